package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// A spread sends each request of a client to the next replica, with its key.
type spread struct {
	header   http.Header
	replicas []string
	sent     atomic.Int64
}

func (s *spread) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range s.header {
		r.Header[name] = values
	}
	r.URL.Host = s.replicas[int(s.sent.Add(1))%len(s.replicas)]
	return http.DefaultTransport.RoundTrip(r)
}

// connectHTTP connects to services as an assistant does that has their URL and a key. The
// version is that of the protocol, "" for the newest.
func connectHTTP(t testing.TB, key, version string, replicas ...*instance) *sdk.ClientSession {
	t.Helper()
	to := &spread{header: http.Header{"X-Api-Key": {key}}}
	for _, s := range replicas {
		to.replicas = append(to.replicas, s.hostPort)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(),
		&sdk.StreamableClientTransport{Endpoint: "http://service.example/mcp", HTTPClient: &http.Client{Transport: to}},
		&sdk.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { session.Close() })
	return session
}

// versions are the versions of the protocol that clients speak; "" is the newest.
var versions = []string{"", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// replicasOf starts services on a database that they share, if it can be shared.
func replicasOf(t *testing.T, url string, args ...string) []*instance {
	args = append([]string{"--database", url}, args...)
	list := []*instance{start(t, args...)}
	if strings.HasPrefix(url, "postgres:") {
		list = append(list, start(t, args...))
	}
	for _, s := range list {
		s.ledger = ledgertest.Open(t, url)
	}
	return list
}

// Any replica serves any message of any version of the protocol, and the tools are those of
// the program.
func TestMCPOverHTTP(t *testing.T) {
	dns := contract.Serve(t)
	local, _ := connectMCP(t, "--dns", dns)
	arguments := map[string]any{"emails": []string{"jane@mail.example", "jane@mail.example", "a..b@mail.example", "jörg@bücher.example"}}
	want, text, _ := call(t, local, "check_emails", arguments)
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		replicas := replicasOf(t, url, "--dns", dns)
		key := replicas[0].newKey(t)
		for n, version := range versions {
			session := connectHTTP(t, key, version, replicas...)
			require.Equal(t, "addrspec", session.InitializeResult().ServerInfo.Name)
			require.Contains(t, session.InitializeResult().Instructions, "one usage point")
			require.Empty(t, session.ID(), "no session")
			list, err := session.ListTools(t.Context(), nil)
			require.NoError(t, err)
			require.Len(t, list.Tools, 3)
			require.Equal(t, 3_600_000, list.TTLMs)
			require.Equal(t, "public", list.CacheScope)
			got, says, isError := call(t, session, "check_emails", arguments)
			require.False(t, isError, says)
			require.JSONEq(t, want, got)
			require.Equal(t, text, says)
			got, _, isError = call(t, session, "explain", map[string]any{"email": "support@mail.example"})
			require.False(t, isError)
			require.Contains(t, got, `"word":"support"`)
			require.EqualValues(t, 4*(n+1), replicas[0].used(t))
		}
	})
}

// However many calls there are at a time on all replicas, an account pays for what was
// reported, and never more than it has.
func TestMCPOverHTTPChargesExactly(t *testing.T) {
	const points, clients, calls = 50, 4, 12 // fewer messages than an account may send in a second
	dns := contract.Serve(t)
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		replicas := replicasOf(t, url, "--dns", dns)
		key, _ := replicas[0].limitedKey(t, points)
		var paid, refused atomic.Int64
		var all errgroup.Group
		all.SetLimit(8)
		for c := range clients {
			session := connectHTTP(t, key, versions[c%len(versions)], replicas...)
			for n := range calls {
				emails := []string{fmt.Sprintf("a%d@mail.example", n), "b@mail.example", "b@mail.example"}[:n%3+1]
				all.Go(func() error {
					result, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: "check_emails", Arguments: map[string]any{"emails": emails}})
					for passes(err) {
						result, err = session.CallTool(context.Background(), &sdk.CallToolParams{Name: "check_emails", Arguments: map[string]any{"emails": emails}})
					}
					switch {
					case err != nil:
						return err
					case result.IsError:
						refused.Add(1)
						return wantText(result, "usage points")
					}
					paid.Add(int64(len(distinctOf(emails))))
					return nil
				})
			}
		}
		require.NoError(t, all.Wait())
		require.Equal(t, paid.Load(), replicas[0].used(t))
		require.LessOrEqual(t, paid.Load(), int64(points))
		require.Positive(t, refused.Load())
		// What is left buys addresses one by one.
		session := connectHTTP(t, key, "", replicas...)
		for range points - paid.Load() {
			_, text, isError := call(t, session, "check_email", map[string]any{"email": "jane@mail.example"})
			require.False(t, isError, text)
		}
		_, text, isError := call(t, session, "check_email", map[string]any{"email": "jane@mail.example"})
		require.True(t, isError)
		require.Equal(t, "The batch needs 1 usage points and 0 are left this month.", text)
		require.EqualValues(t, points, replicas[0].used(t))
	})
}

// passes reports whether a message was refused before it was read, for a reason that passes:
// the rate of messages, or a busy machine. Nothing was charged.
func passes(err error) bool {
	return err != nil && (strings.Contains(err.Error(), http.StatusText(http.StatusServiceUnavailable)) || strings.Contains(err.Error(), http.StatusText(http.StatusTooManyRequests)))
}

func distinctOf(emails []string) map[string]bool {
	set := map[string]bool{}
	for _, email := range emails {
		set[email] = true
	}
	return set
}

// wantText returns an error unless the text of a result has a part.
func wantText(result *sdk.CallToolResult, part string) error {
	if text := result.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, part) {
		return fmt.Errorf("the text is %q", text)
	}
	return nil
}

// A key decides who may send messages, an operation of the API what a call costs. The errors of
// tools have the sentences of the API.
func TestMCPOverHTTPIsTheAPI(t *testing.T) {
	s := start(t, "--dns", contract.Serve(t))
	key, account := s.limitedKey(t, book.Unlimited)
	_, err := s.ledger.SetPolicy(t.Context(), account, "sign-up", `{"block": {"reasons": ["role"]}}`)
	require.NoError(t, err)
	session := connectHTTP(t, key, "", s)
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
	session = connectHTTP(t, slow, "", s)
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

	// A key that is bound to origins, and one that is revoked.
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

	require.NoError(t, s.ledger.SuspendAccount(t.Context(), account))
	require.Eventually(t, func() bool {
		response, _ := s.send(t, http.MethodPost, "/mcp", key, list, nil)
		return response.StatusCode == 401
	}, hung, 20*time.Millisecond)
	require.NotContains(t, s.log.String(), "mail.example")
	require.NotContains(t, s.log.String(), key[:12])
}

// A foreign request gets an error in the form of the API, or, from the body on, of the
// protocol; it costs nothing.
func TestMCPOverHTTPRefuses(t *testing.T) {
	s := start(t, "--dns", contract.Serve(t))
	key := s.newKey(t)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	const listen = `{"jsonrpc":"2.0","id":"x","method":"subscriptions/listen","params":{}}`
	newest := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}}
	for name, c := range map[string]struct {
		method, key, body string
		header            http.Header
		status            int
		says              string
	}{
		"GET":              {method: "GET", key: key, status: 405, says: `"code":"METHOD_NOT_ALLOWED"`},
		"GET of a page":    {method: "GET", key: key, header: http.Header{"Accept": {"text/html"}}, status: 405, says: `"code":"METHOD_NOT_ALLOWED"`},
		"DELETE":           {method: "DELETE", key: key, header: http.Header{"Mcp-Session-Id": {"x"}}, status: 405, says: `"code":"METHOD_NOT_ALLOWED"`},
		"no key":           {key: "", body: "{", status: 401, says: `"error":"No API key was sent`},
		"malformed key":    {key: "ask_x", body: "{", status: 401, says: `"code":"INVALID_API_KEY"`},
		"unknown key":      {key: book.NewSecret(), body: "{", status: 401, says: "it is unknown, expired or revoked"},
		"no JSON type":     {key: key, body: list, header: http.Header{"Content-Type": {"text/plain"}}, status: 415, says: `"code":"UNSUPPORTED_MEDIA_TYPE"`},
		"compressed":       {key: key, body: list, header: http.Header{"Content-Encoding": {"gzip"}}, status: 415, says: `without a Content-Encoding`},
		"long":             {key: key, body: strings.Repeat(" ", 256<<10) + list, status: 413, says: `"error":"The body is over 256 KiB; check fewer addresses at a time."`},
		"empty":            {key: key, status: 400, says: `"code":-32700,"message":"the body is empty`},
		"not UTF-8":        {key: key, body: "\"\xff\"", status: 400, says: "the body is not UTF-8"},
		"not JSON":         {key: key, body: "{", status: 400, says: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the body is not JSON; a POST has one JSON object"}}`},
		"no message":       {key: key, body: "{}", status: 400, says: `"code":-32600`},
		"a batch":          {key: key, body: "[" + list + "," + list + "]", status: 400, says: "a batch is none in this protocol"},
		"deep":             {key: key, body: strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), status: 400, says: `"error":`},
		"unknown method":   {key: key, body: `{"jsonrpc":"2.0","id":7,"method":"no/such"}`, status: 400, says: `{"jsonrpc":"2.0","id":7,"error":{"code":-32600`},
		"unknown version":  {key: key, body: list, header: http.Header{"Mcp-Protocol-Version": {"1999-01-01"}}, status: 400, says: `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Bad Request: Unsupported protocol version`},
		"no version":       {key: key, body: list, header: newest, status: 400, says: `"id":1,"error"`},
		"a resumed stream": {key: key, body: list, header: http.Header{"Last-Event-Id": {"1"}}, status: 400, says: `"id":1,"error"`},
		"a subscription":   {key: key, body: listen, status: 404, says: `{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"subscriptions/listen: the tools of this server never change"}}`},
		"a newer one":      {key: key, body: listen, header: newest, status: 404, says: `"code":-32601`},
		"a notification":   {key: key, body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, status: 202},
		"a response":       {key: key, body: `{"jsonrpc":"2.0","id":1,"result":{}}`, status: 202},
		"a session":        {key: key, body: list, header: http.Header{"Mcp-Session-Id": {"x"}, "Accept": {"text/event-stream"}}, status: 200, says: `"tools":[`},
		"no such tool":     {key: key, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, status: 200, says: `"code":-32602`},
		"no arguments":     {key: key, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_email"}}`, status: 200, says: `"isError":true`},
	} {
		method := c.method
		if method == "" {
			method = http.MethodPost
		}
		response, body := s.send(t, method, "/mcp", c.key, c.body, c.header)
		require.Equal(t, c.status, response.StatusCode, "%s: %s", name, body)
		require.Contains(t, body, c.says, name)
		require.Equal(t, "application/json", response.Header.Get("Content-Type"), name)
		require.NotEmpty(t, response.Header.Get("X-Request-Id"), name)
		require.Empty(t, response.Header.Get("Mcp-Session-Id"), name)
		if c.status == 405 {
			require.Equal(t, "POST, OPTIONS", response.Header.Get("Allow"))
		}
		if strings.HasPrefix(body, `{"jsonrpc"`) {
			require.True(t, json.Valid([]byte(body)), "%s: %s", name, body)
		}
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

// messageCalls calls a tool about a domain in the oldest and in the newest version of the
// protocol, which a client of the SDK does not use without a handshake.
var messageCalls = map[string]string{
	"": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_emails","arguments":{"emails":["a@silent.example","b@mail.example"]}}}`,
	"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: check_emails\r\n": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_emails","arguments":{"emails":["a@silent.example","b@mail.example"]},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
}

func messageText(key, header, body string) string {
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", key, header, len(body), body)
}

// An assistant that disconnects during a call is not charged, in any version of the protocol,
// and its points and memory are free again before the lookup could have timed out.
func TestMCPOverHTTPDisconnectIsFree(t *testing.T) {
	t.Parallel()
	dns := mxtest.New(t, contract.Zone)
	dns.Respond("silent.example", mxtest.Silent)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "20s", "--batch-timeout", "20s")
	key, _ := s.limitedKey(t, 2)
	asked := 0
	for header, body := range messageCalls {
		conn := origintest.Dial(t, s.hostPort, hung).Send(messageText(key, header, body))
		require.Eventually(t, func() bool { return dns.Asked("silent.example") > asked }, hung, time.Millisecond)
		require.Positive(t, s.metric(t, "addrspec_body_bytes"))
		require.NoError(t, conn.Close())
		require.Eventually(t, func() bool {
			_, text := s.send(t, http.MethodPost, "/v1/emails", key, `{"emails":["x","y","z"]}`, nil)
			return strings.Contains(text, `"remaining":2`)
		}, hung, 20*time.Millisecond)
		require.Eventually(t, func() bool { return s.metric(t, "addrspec_body_bytes") == 0 }, hung, 20*time.Millisecond)
		asked = dns.Asked("silent.example")
	}
	require.Zero(t, s.used(t))
}

// A call in progress gets what is finished when the service stops, and pays for that.
func TestMCPOverHTTPStops(t *testing.T) {
	t.Parallel()
	for header, body := range messageCalls {
		dns := mxtest.New(t, contract.Zone)
		dns.Respond("silent.example", mxtest.Silent)
		s := start(t, "--dns", dns.Addr, "--dns-timeout", "20s", "--batch-timeout", "20s")
		key := s.newKey(t)
		_, _, err := s.post(key, []string{"b@mail.example"}) // later its domain is in the cache
		require.NoError(t, err)
		hits := s.metric(t, "addrspec_mx_cache_hits_total")
		conn := origintest.Dial(t, s.hostPort, hung).Send(messageText(key, header, body))
		require.Eventually(t, func() bool {
			return dns.Asked("silent.example") > 0 && s.metric(t, "addrspec_mx_cache_hits_total") > hits
		}, hung, time.Millisecond)
		s.stop()
		response, text := conn.Response()
		require.Equal(t, 200, response.StatusCode, text)
		require.Contains(t, text, `2 addresses: 1 valid, 0 not valid, 1 not checked.`)
		require.Contains(t, text, `"code":"REQUEST_CANCELLED"`)
		s.requireStopped(t)
		require.EqualValues(t, 2, s.used(t))
	}
}

// No byte of the body is read before the key is judged.
func TestMCPOverHTTPJudgesTheKeyFirst(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	for name, c := range map[string]struct {
		header string
		status int
	}{
		"none":          {"", 401},
		"unknown":       {"X-API-Key: " + book.NewSecret() + "\r\n", 401},
		"good, no JSON": {"X-API-Key: " + s.newKey(t) + "\r\n", 415},
		"good, long":    {"Content-Type: application/json\r\nAuthorization: bearer " + s.otherKey(t) + "\r\n", 413},
	} {
		conn := origintest.Dial(t, s.hostPort, hung)
		conn.Send("POST /mcp HTTP/1.1\r\nHost: x\r\n" + c.header + "Content-Length: 1000000\r\n\r\n")
		require.Equal(t, c.status, conn.Header(http.MethodPost).StatusCode, name)
	}
}
