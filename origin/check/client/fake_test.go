package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// check checks addresses and returns their outcomes.
func check(ctx context.Context, c *Client, emails []string) ([]pipeline.Outcome, error) {
	return checkWith(ctx, &Checker{Client: c}, emails)
}

func checkWith(ctx context.Context, c *Checker, emails []string) ([]pipeline.Outcome, error) {
	records, outcomes := make([]pipeline.Record, len(emails)), make([]pipeline.Outcome, len(emails))
	for n, email := range emails {
		records[n].Email = email
	}
	return outcomes, c.Check(ctx, records, outcomes)
}

const testKey = "ask_000000000000000000000000000000002CGNRW"

// A fake responds to requests in place of a service, without sockets, so that a test can run in a synctest bubble.
type fake struct {
	mu       sync.Mutex
	requests []seen
	respond  func(seen) (*http.Response, error)
}

// seen is a request that arrived.
type seen struct {
	number      int // from 1
	path        string
	header      http.Header
	idempotency string
	body        string
	emails      []string
	details     bool
}

// newFake returns a client whose requests respond gets.
func newFake(t testing.TB, respond func(seen) (*http.Response, error)) (*Client, *fake) {
	f := &fake{respond: respond}
	c, err := New(Config{URL: "https://addrspec.test/base/", Key: testKey, Agent: "addrspec/test", Transport: f})
	require.NoError(t, err)
	return c, f
}

// RoundTrip implements [http.RoundTripper].
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	s := seen{path: r.URL.EscapedPath(), header: r.Header, idempotency: r.Header.Get("Idempotency-Key")}
	if r.Body != nil {
		text, _ := io.ReadAll(r.Body)
		s.body = string(text)
		var batch struct {
			Emails  []string
			Details bool
		}
		_ = json.Unmarshal(text, &batch)
		s.emails, s.details = batch.Emails, batch.Details
	}
	f.mu.Lock()
	s.number = len(f.requests) + 1
	f.requests = append(f.requests, s)
	f.mu.Unlock()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return f.respond(s)
}

func response(status int, body string, header ...string) (*http.Response, error) {
	h := http.Header{}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		h.Set(name, value)
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// resultOf is a result of the service.
func resultOf(email string, details bool) string {
	quotedEmail, _ := json.Marshal(email)
	more := ""
	if details {
		more = `,"details":{"refusal":null,"canonical":null}`
	}
	return fmt.Sprintf(`{"email":%s,"valid":true,"normalized":%[1]s,"local_part":"x","alias":false,"ascii":true,"role":null,`+
		`"gibberish":false,"gibberish_score":0.07,"domain":"y","mx":true,"disposable":false,"public":false,"relay":false,"typo":false,"typo_suggestion":null%s}`,
		quotedEmail, more)
}

func itemText(email string, details bool) string {
	quotedEmail, _ := json.Marshal(email)
	return fmt.Sprintf(`{"email":%s,"status":"success","result":%s,"error":null}`, quotedEmail, resultOf(email, details))
}

// envelopeOf is the response to a batch.
func envelopeOf(partial bool, items ...string) string {
	return fmt.Sprintf(`{"success":true,"partial":%t,"total":%d,"results":[%s]}`, partial, len(items), strings.Join(items, ","))
}

// checked responds to a batch, or a request for the usage, as the service does.
func checked(s seen) (*http.Response, error) {
	if strings.HasSuffix(s.path, "/v1/usage") {
		return response(200, `{"points":{"used":990,"limit":1000,"remaining":10,"overage":false,"refill":"2026-12-01T00:00:00Z"},"rate":{"limit":1,"remaining":0}}`)
	}
	items := make([]string, len(s.emails))
	for n, email := range s.emails {
		items[n] = itemText(email, s.details)
	}
	return response(200, envelopeOf(false, items...), "X-Usage-Current: 1", "X-Usage-Limit: unlimited")
}

const (
	busyBody = `{"status":429,"title":"Too Many Requests","detail":"Rate limit exceeded: wait 3 seconds before the next request."}`
	downBody = `{"status":503,"error":"The service is stopping.","code":"REQUEST_CANCELLED"}`
)
