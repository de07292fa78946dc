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
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract/description"
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
func Cases(t testing.TB) []Case {
	t.Helper()
	var cases []Case
	require.NoError(t, decodeStrict(raw, &cases), "cases.json")
	return cases
}

// Run runs every case against the service at hostPort, whose accounts are in l.
// Every response must be as openapi.json describes it; survey records what was seen.
func Run(t *testing.T, hostPort string, l *ledger.Ledger, survey *description.Survey) {
	RunCases(t, Cases(t), hostPort, l, survey)
}

// RunCases is [Run] for some of the cases. added are names of headers that a proxy
// in front of the service adds, and that openapi.json does not describe.
func RunCases(t *testing.T, cases []Case, hostPort string, l *ledger.Ledger, survey *description.Survey, added ...string) {
	for n, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			account, responses := c.exchange(t, hostPort, l, n)
			for _, name := range added {
				for n := range responses {
					responses[n].Header.Del(name)
				}
			}
			for n := range responses {
				c.Steps[n].Response.require(t, fmt.Sprintf("step %d", n+1), responses[n])
				require.NoError(t, survey.Check(responses[n]), "step %d: body %s", n+1, excerpt(responses[n].Body))
			}
			used, err := l.AccountByEmail(context.Background(), account)
			require.NoError(t, err)
			require.Equal(t, c.Used, used.Used, "points used at the end")
		})
	}
}

// exchange sends the requests of all steps, with an account and a key of their own. A
// case with a rate of its account shows nothing if its requests took so long that a
// token came back, so it is repeated then.
func (c *Case) exchange(t *testing.T, hostPort string, l *ledger.Ledger, n int) (account string, responses []description.Response) {
	for range 100 {
		account, key := c.open(t, l, n)
		responses, start := make([]description.Response, len(c.Steps)), time.Now()
		for n, step := range c.Steps {
			responses[n] = step.Request.respond(t, hostPort, key)
		}
		if c.Account.Rate == nil || time.Since(start) < time.Second { // real time: the database refills the account's bucket
			return account, responses
		}
	}
	t.Skip("skipped: this machine cannot send the requests of the case within a second")
	return "", nil
}

// open creates the case's account and key.
func (c *Case) open(t *testing.T, l *ledger.Ledger, n int) (account, key string) {
	terms := book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Unlimited(), Overage: c.Account.Overage}
	if c.Account.Rate != nil {
		terms.Rate = c.Account.Rate
	}
	if c.Account.Points != nil {
		terms.Points = c.Account.Points
	}
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
		require.NoError(t, l.ChangeKey(ctx, id, keys[0].ID, book.KeyChange{Terms: &book.KeyTerms{Origins: c.Origins, Policy: c.Policy}}))
	}
	if c.Revoked {
		require.NoError(t, l.RevokeKey(ctx, id, keys[0].ID))
	}
	return account, key
}

// require compares a response with the expected one.
func (r *Response) require(t *testing.T, name string, got description.Response) {
	require.Equal(t, r.Status, got.Status, "%s: status, with body %s", name, excerpt(got.Body))
	r.checkHeaders(t, name, got.Header)
	if r.Body != nil {
		require.NoError(t, match(r.Body, got.Body), "%s: body %s", name, excerpt(got.Body))
	}
}

// excerpt shortens a body for the message of a failure.
func excerpt(body []byte) string {
	const most = 600
	if len(body) <= most {
		return string(body)
	}
	return string(body[:most]) + "..."
}

func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// timeout limits one exchange. The slowest case waits for a silent resolver.
const timeout = 30 * time.Second

// respond sends the request on its own connection and returns the response. A client
// library would normalize the targets that the cases are about.
func (r *Request) respond(t *testing.T, hostPort, key string) description.Response {
	response, body := origintest.Exchange(t, hostPort, r.text(hostPort, key), timeout)
	return description.Response{Method: r.method(), Target: r.Target, Status: response.StatusCode, Header: response.Header, Body: []byte(body)}
}

func (r *Request) method() string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

func (r *Request) text(hostPort, key string) string {
	fill := strings.NewReplacer("{fill}", strings.Repeat(r.Fill, r.Times))
	request := origintest.Request{Method: r.method(), Target: fill.Replace(r.Target), Body: fill.Replace(r.Body)}
	for name, value := range r.headers() {
		for line := range strings.SplitSeq(strings.ReplaceAll(value, "{key}", key), "\n") {
			request.Header = append(request.Header, name+": "+line)
		}
	}
	return request.Text(hostPort)
}

// headers returns the headers of the case, with a key and a media type added if it
// has none. A header with an empty value is omitted.
func (r *Request) headers() map[string]string {
	all := map[string]string{"X-API-Key": "{key}"}
	if r.method() == http.MethodPost {
		all["Content-Type"] = "application/json"
	}
	if _, ok := r.Headers["Authorization"]; ok {
		delete(all, "X-API-Key")
	}
	for name, value := range r.Headers {
		all[name] = value
		if value == "" {
			delete(all, name)
		}
	}
	return all
}

// checkHeaders checks the headers that every response has and those of this one.
func (r *Response) checkHeaders(t *testing.T, name string, got http.Header) {
	want := map[string]string{"Content-Type": "application/json", "X-Request-Id": "~^[A-Za-z0-9._:-]+$", "Cache-Control": "~no-store"}
	for header, value := range r.Headers {
		want[header] = value
	}
	for header, value := range want {
		if pattern, ok := strings.CutPrefix(value, "~"); ok {
			require.Regexp(t, regexp.MustCompile(pattern), got.Get(header), "%s: %s", name, header)
			continue
		}
		require.Equal(t, value, got.Get(header), "%s: %s", name, header)
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
		if err != nil || !sameToken(expected, found) {
			return fmt.Errorf("at %d: want %v, got %v (%v)", g.InputOffset(), expected, found, err)
		}
	}
	if g.InputOffset() != int64(len(got)) {
		return fmt.Errorf("unexpected bytes at %d", g.InputOffset())
	}
	return nil
}

func sameToken(want, got json.Token) bool {
	pattern, isPattern := want.(string)
	if !isPattern || !strings.HasPrefix(pattern, "~") {
		return want == got
	}
	text, isString := got.(string)
	return isString && regexp.MustCompile(pattern[1:]).MatchString(text)
}
