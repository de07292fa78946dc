package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-API-Key", string(k))
	return http.DefaultTransport.RoundTrip(r)
}

func connectHTTP(t testing.TB, key string, s *instance) *sdk.ClientSession {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(),
		&sdk.StreamableClientTransport{Endpoint: "http://" + s.hostPort + "/mcp", HTTPClient: &http.Client{Transport: withKey(key)}}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { session.Close() })
	return session
}

// A key decides who may send messages, an operation of the API what a call costs. The errors of
// tools have the sentences of the API.
func TestMCPOverHTTPIsTheAPI(t *testing.T) {
	s := start(t, "--dns", contract.Serve(t))
	key, account := s.limitedKey(t, book.Unlimited)
	s.policyKey(t, account, "sign-up", `{"block": {"reasons": ["role"]}}`)
	session := connectHTTP(t, key, s)
	email := map[string]any{"email": "support@mail.example"}
	decided := func(policy any, want string) {
		t.Helper()
		structured, text, isError := call(t, session, "check_email", map[string]any{"email": "support@mail.example", "policy": policy})
		require.False(t, isError, text)
		require.Contains(t, structured, want)
	}
	decided("sign-up", `"verdict":{"action":"block","reason":"role","rule":"block.reasons[0]"}`)
	decided(json.RawMessage(`{"review": {"reasons": ["role:support"]}}`), `"verdict":{"action":"review","reason":"role:support","rule":"review.reasons[0]"}`)
	used := s.used(t)
	for says, policy := range map[string]any{
		"The account has no policy other":                                      "other",
		`policy: block.reasons[0]: "rolle" is no reason; did you mean "role"?`: json.RawMessage(`{"block": {"reasons": ["rolle"]}}`),
		"in a call it may have 65536; store a longer one in the account ":      json.RawMessage(`{"block": {"reasons": ["` + strings.Repeat("x", 64<<10) + `"]}}`),
	} {
		_, text, isError := call(t, session, "check_email", map[string]any{"email": "support@mail.example", "policy": policy})
		require.True(t, isError)
		require.Contains(t, text, says)
	}
	_, text, isError := call(t, session, "check_email", map[string]any{"email": "a@servfail.example"})
	require.True(t, isError)
	require.Contains(t, text, "DNS_FAILURE: ")
	require.Equal(t, used+1, s.used(t), "a batch with an item that failed is charged, policies that cannot decide are not")

	// The token of the rate: lists take none, and a policy of a call is not even read without one.
	slow, _ := ledgertest.NewAccountOn(t, s.ledger, "slow@contract.test", book.Terms{Rate: ledgertest.Limit(1), Points: ledgertest.Unlimited()})
	session = connectHTTP(t, slow, s)
	for range 5 {
		_, err := session.ListTools(t.Context(), nil)
		require.NoError(t, err)
	}
	for _, policy := range []any{nil, json.RawMessage(`{"block": {"reasons": ["no such"]}}`)} {
		require.Eventually(t, func() bool {
			_, text, isError := call(t, session, "check_email", map[string]any{"email": "jane@mail.example", "policy": policy})
			return isError && strings.HasPrefix(text, "Rate limit exceeded: wait 1 second before")
		}, hung, time.Millisecond)
		call(t, session, "check_email", email) // take the token, if there is one
	}

	// A key that is bound to origins.
	bound, _, err := s.ledger.CreateKey(t.Context(), account, "bound", book.KeyTerms{Origins: []string{"https://shop.example"}})
	require.NoError(t, err)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	response, body := s.send(t, http.MethodPost, "/mcp", bound, list, nil)
	require.Equal(t, 401, response.StatusCode, body)
	require.Equal(t, `Bearer realm="addrspec"`, response.Header.Get("Www-Authenticate"))
	response, body = s.send(t, http.MethodPost, "/mcp", bound, list, http.Header{"Origin": {"https://shop.example"}})
	require.Equal(t, 200, response.StatusCode, body)
	require.Equal(t, "https://shop.example", response.Header.Get("Access-Control-Allow-Origin"))
	const checks = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_email","arguments":{"email":"jane@mail.example"}}}`
	response, body = s.send(t, http.MethodPost, "/mcp", bound, checks, http.Header{"Origin": {"https://shop.example"}, "X-Request-Id": {"trace-1"}})
	require.Equal(t, 200, response.StatusCode, body)
	require.Contains(t, body, `"mx":true`)
	require.Equal(t, "trace-1", response.Header.Get("X-Request-Id"))
	require.Equal(t, 2, strings.Count(s.wholeLog(t), `"request_id":"trace-1"`), "of the message and of the operation")

	// An Idempotency-Key is that of the operation.
	used = s.used(t)
	for range 3 {
		_, body = s.send(t, http.MethodPost, "/mcp", key, checks, http.Header{"Idempotency-Key": {"once"}})
		require.Contains(t, body, `"mx":true`)
	}
	require.Equal(t, used+1, s.used(t))
	_, body = s.send(t, http.MethodPost, "/mcp", key, strings.Replace(checks, "jane@", "john@", 1), http.Header{"Idempotency-Key": {"once"}})
	require.Contains(t, body, "This Idempotency-Key was used with another body")

	require.NotContains(t, s.log.String(), "mail.example")
	require.NotContains(t, s.log.String(), key[:12])
}

// A foreign request gets an error in the form of the API, or, from the body on, of the
// protocol; it costs nothing.
func TestMCPOverHTTPRefuses(t *testing.T) {
	s := start(t, "--dns", contract.Serve(t))
	key := s.newKey(t)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, c := range map[string]struct {
		method, key, body string
		header            http.Header
		status            int
		says              string
	}{
		"GET":           {"GET", key, "", nil, 405, `"code":"METHOD_NOT_ALLOWED"`},
		"GET of a page": {"GET", key, "", http.Header{"Accept": {"text/html"}}, 405, `"code":"METHOD_NOT_ALLOWED"`},
		"DELETE":        {"DELETE", key, "", http.Header{"Mcp-Session-Id": {"x"}}, 405, `"code":"METHOD_NOT_ALLOWED"`},
		"no key":        {"POST", "", "{", nil, 401, `"error":"No API key was sent`},
		"malformed key": {"POST", "ask_x", "{", nil, 401, `"code":"INVALID_API_KEY"`},
		"unknown key":   {"POST", book.NewSecret(), "{", nil, 401, "it is unknown, expired or revoked"},
		"no JSON type":  {"POST", key, list, http.Header{"Content-Type": {"text/plain"}}, 415, `"code":"UNSUPPORTED_MEDIA_TYPE"`},
		"compressed":    {"POST", key, list, http.Header{"Content-Encoding": {"gzip"}}, 415, `without a Content-Encoding`},
		"long":          {"POST", key, strings.Repeat(" ", 256<<10) + list, nil, 413, `"error":"The body is over 256 KiB; check fewer addresses at a time."`},
		"not JSON":      {"POST", key, "{", nil, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700`},
		"notification":  {"POST", key, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, ""},
	} {
		response, body := s.send(t, c.method, "/mcp", c.key, c.body, c.header)
		require.Equal(t, c.status, response.StatusCode, "%s: %s", name, body)
		require.Contains(t, body, c.says, name)
		require.Equal(t, "application/json", response.Header.Get("Content-Type"), name)
		require.NotEmpty(t, response.Header.Get("X-Request-Id"), name)
		require.Empty(t, response.Header.Get("Mcp-Session-Id"), name)
		if c.status == 405 {
			require.Equal(t, "POST, OPTIONS", response.Header.Get("Allow"))
		}
	}
	for header, status := range map[string]int{"": 401, "X-API-Key: " + book.NewSecret() + "\r\n": 401, "X-API-Key: " + key + "\r\n": 415,
		"Content-Type: application/json\r\nAuthorization: bearer " + key + "\r\n": 413} {
		conn := origintest.Dial(t, s.hostPort, hung)
		conn.Send("POST /mcp HTTP/1.1\r\nHost: x\r\n" + header + "Content-Length: 1000000\r\n\r\n") // and no byte of the body
		require.Equal(t, status, conn.Header(http.MethodPost).StatusCode, header)
	}
	require.Zero(t, s.used(t))
	s.requireHealthy(t)

	// A page may ask; a proxy on this machine passes another name on.
	response, _ := s.send(t, http.MethodOptions, "/mcp", "", "", http.Header{"Origin": {"https://shop.example"}})
	require.Equal(t, 204, response.StatusCode)
	require.Contains(t, response.Header.Get("Access-Control-Allow-Headers"), "X-API-Key")
	require.Contains(t, response.Header.Get("Access-Control-Allow-Headers"), "Mcp-Protocol-Version")
	request, err := http.NewRequest(http.MethodPost, "http://"+s.hostPort+"/mcp", strings.NewReader(list))
	require.NoError(t, err)
	request.Host = "addrspec.example"
	request.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	response, err = httpClient.Do(request)
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, 200, response.StatusCode)
}

// slowCall calls a tool about a domain that is silent and one that is not.
const slowCall = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"check_emails","arguments":{"emails":["a@silent.example","b@mail.example"]}}}`

// An assistant that disconnects during a call is not charged, and its points and memory are free
// again before the lookup could have timed out. A call in progress gets what is finished when the
// service stops, and pays for that.
func TestMCPOverHTTPEnds(t *testing.T) {
	t.Parallel()
	dns := mxtest.New(t, contract.Zone)
	dns.Respond("silent.example", mxtest.Silent)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "20s", "--batch-timeout", "20s")
	key, _ := s.limitedKey(t, 3)
	_, _, err := s.post(key, []string{"b@mail.example"}) // later its domain is in the cache
	require.NoError(t, err)
	message := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		key, len(slowCall), slowCall)
	conn := origintest.Dial(t, s.hostPort, hung).Send(message)
	require.Eventually(t, func() bool { return dns.Asked("silent.example") > 0 }, hung, time.Millisecond)
	require.Positive(t, s.metric(t, "addrspec_body_bytes"))
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool {
		_, text := s.send(t, http.MethodPost, "/v1/emails", key, `{"emails":["x","y","z"]}`, nil)
		return strings.Contains(text, `"remaining":2`)
	}, hung, 20*time.Millisecond)
	require.Eventually(t, func() bool { return s.metric(t, "addrspec_body_bytes") == 0 }, hung, 20*time.Millisecond)
	require.EqualValues(t, 1, s.used(t))

	asked, hits := dns.Asked("silent.example"), s.metric(t, "addrspec_mx_cache_hits_total")
	conn = origintest.Dial(t, s.hostPort, hung).Send(message)
	require.Eventually(t, func() bool {
		return dns.Asked("silent.example") > asked && s.metric(t, "addrspec_mx_cache_hits_total") > hits
	}, hung, time.Millisecond)
	s.stop()
	response, text := conn.Response()
	require.Equal(t, 200, response.StatusCode, text)
	require.Contains(t, text, `2 addresses: 1 valid, 0 not valid, 1 not checked.`)
	require.Contains(t, text, `"code":"REQUEST_CANCELLED"`)
	s.requireStopped(t)
	require.EqualValues(t, 2, s.used(t))
}
