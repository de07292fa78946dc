// Package contract contains the contract of the two operations as data: requests
// and the responses that the specification requires, in cases.json. The same suite
// runs against the origin and against an edge worker in front of it, so both
// respond alike.
//
// Each case has its own account, so its cost is exact. The DNS data is Zone, which
// a test serves over real sockets.
package contract

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// Zone is the DNS data of the cases.
const Zone = `
	example.         300 IN SOA ns.example. hostmaster.example. 1 2 3 4 60
	mail.example.    300 IN MX  10 mx1.mail.example.
	xn--bcher-kva.example. 300 IN MX 10 mx1.mail.example.
	none.example.    300 IN A   192.0.2.1
	null.example.    300 IN MX  0 .
	null.example.    300 IN A   192.0.2.1
	servfail.example. 300 IN MX 10 mx1.mail.example.
	silent.example.  300 IN MX  10 mx1.mail.example.
	*.bulk.example.  300 IN MX  10 mx1.mail.example.
	burner.example.  300 IN MX  10 mail.mailinator.com.
	mixed.example.   300 IN MX  10 mail.mailinator.com.
	mixed.example.   300 IN MX  20 mx1.mail.example.
	gmial.com.       300 IN MX  10 mail.mailinator.com.
	posteo.de.       300 IN MX  10 mail.mailinator.com.
	google.example.  300 IN MX  5  alt1.aspmx.l.google.com.
	google.example.  300 IN MX  1  aspmx.l.google.com.
	own.example.     300 IN MX  10 mx.own.example.
	address.example. 300 IN A   192.0.2.1
	nothing.example. 300 IN TXT "no mail"
	unreachable.example. 300 IN TXT "the lookup of AAAA fails"
`

// Serve serves Zone, with faults for three names, until the test ends. It returns the
// address for --dns.
func Serve(t testing.TB) string {
	server := mxtest.New(t, Zone)
	server.Respond("servfail.example", mxtest.ServFail)
	server.Respond("silent.example", mxtest.Silent)
	server.Respond("unreachable.example", func(w dns.ResponseWriter, reply *dns.Msg) {
		if reply.Question[0].Qtype == dns.TypeAAAA {
			mxtest.ServFail(w, reply)
			return
		}
		mxtest.Answer(w, reply)
	})
	return server.Addr
}

//go:embed cases.json
var raw []byte

// A Case is a sequence of requests on one account.
type Case struct {
	Name    string
	Account Terms
	Revoked bool     // the key was revoked before the first step
	Test    bool     // the key is a test key
	Origins []string // browser origins that the key is bound to
	// Policies are the account's, by name.
	Policies map[string]json.RawMessage
	Policy   string // the key's default
	Steps    []Step
	Used     int64 // points that the account has used at the end
}

// Terms are the limits of the case's account. A nil limit means unlimited.
type Terms struct {
	Rate, Points *book.Limit
	Overage      *bool // whether points beyond the limit may be used
}

// A Step is a request and the response that it must get.
type Step struct {
	Request  Request
	Response Response `json:"response"`
}

// A Request is sent byte for byte. {key} in a header is replaced by the account's
// key. Unless Headers has a key, the header X-API-Key: {key} is added. A line feed
// in a value separates the values of a repeated header.
type Request struct {
	Method  string // GET if empty
	Target  string
	Headers map[string]string
	Body    string
	Fill    string // replaces {fill} in Body and Target, repeated Times times
	Times   int
}

// A Response is what the service must send. A header value that begins with ~ is a
// regular expression, and an empty one means that the header must be absent. In
// Body, the string "*" matches any value, a string that begins with ~ is a regular
// expression, and the order of members counts.
type Response struct {
	Status  int
	Headers map[string]string
	Body    json.RawMessage
}

// Cases returns the suite. An unknown field in it fails the test.
func Cases(t testing.TB) (cases []Case) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&cases), "cases.json")
	return cases
}

// Run runs cases against the service at hostPort, whose accounts are in l. Every response must be
// as openapi.json describes it; survey records what was seen. added are names of headers that a
// proxy in front of the service adds, and that openapi.json does not describe.
func Run(t *testing.T, cases []Case, hostPort string, l *ledger.Ledger, survey *Survey, added ...string) {
	for n, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			account, replies := c.exchange(t, hostPort, l, n)
			for n, reply := range replies {
				for _, name := range added {
					reply.Header.Del(name)
				}
				what := fmt.Sprintf("step %d: status %d, body %.600s", n+1, reply.Status, reply.Body)
				c.Steps[n].Response.require(t, what, reply)
				require.NoError(t, survey.Check(reply), what)
			}
			used, err := l.AccountByEmail(context.Background(), account)
			require.NoError(t, err)
			require.Equal(t, c.Used, used.Used, "points used at the end")
		})
	}
}

// exchange sends the requests of all steps, with an account and a key of their own. It begins again where
// the machine was too slow for the case: a case with a rate of its account shows nothing if a token came
// back meanwhile, and a commit that takes a second is 503, three times at most.
func (c *Case) exchange(t *testing.T, hostPort string, l *ledger.Ledger, n int) (account string, replies []Reply) {
	for try := range 100 {
		account, key := c.open(t, l, n)
		replies, start, unavailable := make([]Reply, len(c.Steps)), time.Now(), false
		for n, step := range c.Steps {
			replies[n] = step.Request.send(t, hostPort, key)
			unavailable = unavailable || replies[n].Status == http.StatusServiceUnavailable && step.Response.Status != replies[n].Status
		}
		// Real time, because the database refills the account's bucket.
		refilled := c.Account.Rate != nil && time.Since(start) >= time.Second
		if !refilled && (!unavailable || try == 3) {
			return account, replies
		}
	}
	t.Skip("skipped: this machine cannot send the requests of the case within a second")
	return "", nil
}

// open creates the case's account and key.
func (c *Case) open(t *testing.T, l *ledger.Ledger, n int) (account, key string) {
	terms := book.Terms{Rate: cmp.Or(c.Account.Rate, ledgertest.Unlimited()),
		Points: cmp.Or(c.Account.Points, ledgertest.Unlimited()), Overage: c.Account.Overage}
	account = fmt.Sprintf("case-%d-%d@contract.test", n, time.Now().UnixNano())
	key, id := ledgertest.NewAccountOn(t, l, account, terms)
	ctx := context.Background()
	if c.Test {
		secret, _, err := l.CreateTestKey(ctx, id, "test key", book.KeyTerms{})
		require.NoError(t, err)
		key = secret
	}
	keys, err := l.ListKeys(ctx, id, book.KeyPage{}) // the newest first
	require.NoError(t, err)
	for name, document := range c.Policies {
		_, err := l.SetPolicy(ctx, id, name, string(document))
		require.NoError(t, err)
	}
	if c.Origins != nil || c.Policy != "" {
		require.NoError(t, l.ChangeKey(ctx, id, keys[0].ID, book.KeyChange{Terms: &book.KeyTerms{Origins: c.Origins,
			Policy: c.Policy}}))
	}
	if c.Revoked {
		require.NoError(t, l.RevokeKey(ctx, id, keys[0].ID))
	}
	return account, key
}

// timeout limits one exchange. The slowest case waits for a silent resolver.
const timeout = 30 * time.Second

// send sends the request on its own connection, with a key and a media type added if it has none. A
// header with an empty value is omitted. A client library would normalize the targets that the
// cases are about.
func (r *Request) send(t *testing.T, hostPort, key string) Reply {
	fill := strings.NewReplacer("{fill}", strings.Repeat(r.Fill, r.Times))
	request := origintest.Request{Method: cmp.Or(r.Method, http.MethodGet), Target: fill.Replace(r.Target),
		Body: fill.Replace(r.Body)}
	headers := map[string]string{"X-API-Key": "{key}"}
	if request.Method == http.MethodPost {
		headers["Content-Type"] = "application/json"
	}
	if _, ok := r.Headers["Authorization"]; ok {
		delete(headers, "X-API-Key")
	}
	maps.Copy(headers, r.Headers)
	for name, value := range headers {
		for line := range strings.SplitSeq(strings.ReplaceAll(value, "{key}", key), "\n") {
			if value != "" {
				request.Header = append(request.Header, name+": "+line)
			}
		}
	}
	response, body := origintest.Exchange(t, hostPort, request.Text(hostPort), timeout)
	return Reply{request.Method, r.Target, response.StatusCode, response.Header, []byte(body)}
}

// require compares a reply with the expected response, and with the headers that every response has.
func (r *Response) require(t *testing.T, what string, got Reply) {
	require.Equal(t, r.Status, got.Status, what)
	want := map[string]string{"Content-Type": "application/json", "X-Request-Id": "~^[A-Za-z0-9._:-]+$",
		"Cache-Control": "~no-store"}
	maps.Copy(want, r.Headers)
	for name, value := range want {
		if pattern, ok := strings.CutPrefix(value, "~"); ok {
			require.Regexp(t, regexp.MustCompile(pattern), got.Header.Get(name), "%s: %s", what, name)
			continue
		}
		require.Equal(t, value, got.Header.Get(name), "%s: %s", what, name)
	}
	if r.Body != nil {
		require.NoError(t, match(r.Body, got.Body), what)
	}
}

// match returns an error if two JSON texts differ. It compares tokens, so the order
// of members counts. In want, the string "*" matches any one value, and a string
// that begins with ~ is a regular expression for a string.
func match(want, got []byte) error {
	w, g := json.NewDecoder(bytes.NewReader(want)), json.NewDecoder(bytes.NewReader(got))
	w.UseNumber()
	g.UseNumber()
	for w.More() || w.InputOffset() < int64(len(bytes.TrimSpace(want))) {
		expected, err := w.Token()
		if err != nil {
			return fmt.Errorf("the body in cases.json: %w", err)
		}
		if expected == "*" {
			var any json.RawMessage
			if err := g.Decode(&any); err != nil {
				return fmt.Errorf("at %d: %w", g.InputOffset(), err)
			}
			continue
		}
		found, err := g.Token()
		same := expected == found
		pattern, isString := expected.(string)
		if text, ok := found.(string); isString && ok && strings.HasPrefix(pattern, "~") {
			same = regexp.MustCompile(pattern[1:]).MatchString(text)
		}
		if err != nil || !same {
			return fmt.Errorf("at %d: want %v, got %v (%v)", g.InputOffset(), expected, found, err)
		}
	}
	if g.InputOffset() != int64(len(got)) {
		return fmt.Errorf("unexpected bytes at %d", g.InputOffset())
	}
	return nil
}
