package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/service"
)

// connectMCP connects to `addrspec mcp` as an assistant does. The command must end with 0 once its
// input ends.
func connectMCP(t testing.TB, args ...string) (*sdk.ClientSession, *origintest.Log) {
	t.Helper()
	in, send := io.Pipe()
	receive, out := io.Pipe()
	log, exit := new(origintest.Log), make(chan int, 1)
	args = append(withModule(t, "mcp"), args...)
	go func() { exit <- run(context.Background(), args, streams{in, out, log}); out.Close() }()
	session := connectTo(t, &sdk.IOTransport{Reader: receive, Writer: send})
	t.Cleanup(func() {
		session.Close()
		require.Zero(t, <-exit, log)
	})
	return session, log
}

func connectTo(t testing.TB, transport sdk.Transport) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session := must(client.Connect(context.Background(), transport, nil))(t)
	return session
}

func call(t testing.TB, session *sdk.ClientSession, tool string, arguments any) (structured, text string, isError bool) {
	t.Helper()
	result := must(session.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: arguments}))(t)
	require.Len(t, result.Content, 1)
	object := must(json.Marshal(result.StructuredContent))(t)
	return string(object), result.Content[0].(*sdk.TextContent).Text, result.IsError
}

// Through a service, facts and errors are those of the same DNS here, and cost points. It decides by
// a policy of the account, or by the key's default. A document of the call or of the command line
// decides here about what the service found.
func TestMCPThroughAService(t *testing.T) {
	t.Parallel()
	const document = `{"block": {"domains": ["bücher.example"], "reasons": ["no_mail"]}, "review": {"reasons": ["no_mx", "role"]}}`
	dns := contract.Serve(t)
	s := start(t, "--dns", dns, "--dns-timeout", "3s")
	key, account := s.limitedKey(t, book.Unlimited)
	s.policyKey(t, account, "sign-up", document)
	other := s.policyKey(t, account, "other", `{"block": {"domains": ["mail.example"]}}`)
	poor, _ := ledgertest.NewAccountOn(t, s.ledger, "poor@contract.test", book.Terms{Points: ledgertest.Limit(2)})
	emails := []string{"jane@mail.example", "hr@mail.example", "jane@missing.example", "jane@address.example",
		"jörg@bücher.example", "a@servfail.example", "b@silent.example", "a..b@mail.example", "x@[192.0.2.1]",
		"jane@mail.example"}
	through := func(key string, args ...string) (*sdk.ClientSession, *origintest.Log) {
		return connectMCP(t, append(args, "--server", "http://"+s.hostPort, "--key", key)...)
	}
	file := fileOf(t, "policy.json", document)
	local, _ := connectMCP(t, "--dns", dns, "--dns-timeout", "3s", "--policy", file)
	require.Contains(t, local.InitializeResult().Instructions, "looked up by DNS")
	want, text, isError := call(t, local, "check_emails", map[string]any{"emails": emails})
	require.False(t, isError)
	require.Contains(t, want, `"verdicts":{"allow":1,"block":3,"review":3}`)
	require.Contains(t, text, "9 addresses: 6 valid, 1 not valid, 2 not checked.")
	for name, c := range map[string]struct {
		key    string
		args   []string
		policy any
	}{
		"a file":                   {key, []string{"--policy", file}, nil},
		"a name":                   {other, []string{"--policy", "sign-up"}, nil},
		"the name of the call":     {other, []string{"--policy", file}, "sign-up"},
		"the document of the call": {other, []string{"--policy", "other"}, json.RawMessage(document)},
	} {
		before := s.used(t)
		session, log := through(c.key, c.args...)
		got, text, isError := call(t, session, "check_emails", map[string]any{"emails": emails, "policy": c.policy})
		require.False(t, isError, "%s: %s", name, text)
		require.JSONEq(t, want, got, name)
		require.Equal(t, before+9, s.used(t), "a point for each different address")
		require.NotContains(t, log.String(), "mail.example")
		require.NotContains(t, log.String(), c.key[:12])
	}
	session, _ := through(other)
	require.Contains(t, session.InitializeResult().Instructions, "one usage point")
	require.Equal(t, service.Release, session.InitializeResult().ServerInfo.Version)
	structured, _, _ := call(t, session, "explain", map[string]any{"email": emails[0]})
	require.Contains(t, structured, `"verdict":{"action":"block","reason":"domain","rule":"block.domains[0]"}`, "the key's default")
	for _, c := range []struct {
		key    string
		policy any
		says   string
	}{
		{other, "no-such", "The account has no policy no-such"},
		{other, "No Such", "policy: the name of a policy must have 1 to 64 of a-z"},
		{other, 7, "want one of"},
		{poor, nil, "The batch needs 3 usage points and 2 are left this month; they refill on 1 "},
		{book.NewSecret(), nil, "This API key is not valid: it is unknown, expired or revoked"},
	} {
		session, _ := through(c.key)
		_, text, isError := call(t, session, "check_emails", map[string]any{"emails": emails[:3], "policy": c.policy})
		require.True(t, isError, c.says)
		require.Contains(t, text, c.says)
	}
}

const slowCall = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"check_emails","arguments":{"emails":["a@silent.example","b@mail.example"]}}}`

type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-API-Key", string(k))
	return http.DefaultTransport.RoundTrip(r)
}

func (s *instance) connectHTTP(t testing.TB, key string) *sdk.ClientSession {
	t.Helper()
	session := connectTo(t, &sdk.StreamableClientTransport{Endpoint: "http://" + s.hostPort + "/mcp",
		HTTPClient: &http.Client{Transport: withKey(key)}})
	t.Cleanup(func() { session.Close() })
	return session
}

// A key decides who may send messages, an operation of the API what a call costs. The errors of
// tools have the sentences of the API. Package mcp tests the headers that reach an operation.
func TestMCPOverHTTPIsTheAPI(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	key, account := s.limitedKey(t, book.Unlimited)
	s.policyKey(t, account, "sign-up", `{"block": {"reasons": ["role"]}}`)
	session := s.connectHTTP(t, key)
	email := map[string]any{"email": "support@mail.example"}
	for want, policy := range map[string]any{
		`"verdict":{"action":"block","reason":"role","rule":"block.reasons[0]"}`:           "sign-up",
		`"verdict":{"action":"review","reason":"role:support","rule":"review.reasons[0]"}`: json.RawMessage(`{"review": {"reasons": ["role:support"]}}`),
	} {
		structured, text, isError := call(t, session, "check_email", map[string]any{"email": email["email"], "policy": policy})
		require.False(t, isError, text)
		require.Contains(t, structured, want)
	}
	used := s.used(t)
	for says, policy := range map[string]any{
		"The account has no policy other":                                      "other",
		`policy: block.reasons[0]: "rolle" is no reason; did you mean "role"?`: json.RawMessage(`{"block": {"reasons": ["rolle"]}}`),
		"in a call it may have 65536; store a longer one in the account ":      json.RawMessage(`{"block": {"reasons": ["` + strings.Repeat("x", 64<<10) + `"]}}`),
	} {
		_, text, isError := call(t, session, "check_email", map[string]any{"email": email["email"], "policy": policy})
		require.True(t, isError)
		require.Contains(t, text, says)
	}
	_, text, isError := call(t, session, "check_email", map[string]any{"email": "a@servfail.example"})
	require.True(t, isError)
	require.Contains(t, text, "DNS_FAILURE: ")
	require.Equal(t, used+1, s.used(t), "a batch with an item that failed is charged, policies that cannot decide are not")

	// The token of the rate: lists take none, and a policy of a call is not even read without one.
	slow, _ := ledgertest.NewAccountOn(t, s.ledger, "slow@contract.test", book.Terms{Rate: ledgertest.Limit(1), Points: ledgertest.Unlimited()})
	session = s.connectHTTP(t, slow)
	for range 5 {
		must(session.ListTools(t.Context(), nil))(t)
	}
	for _, policy := range []any{nil, json.RawMessage(`{"block": {"reasons": ["no such"]}}`)} {
		await(t, func() bool { // at a time, because on a slow machine a call takes a second
			var calls sync.WaitGroup
			var limited atomic.Bool
			for range 8 {
				calls.Go(func() {
					_, text, isError := call(t, session, "check_email", map[string]any{"email": "jane@mail.example", "policy": policy})
					if isError && strings.HasPrefix(text, "Rate limit exceeded: wait 1 second before") {
						limited.Store(true)
					}
				})
			}
			calls.Wait()
			return limited.Load()
		})
		call(t, session, "check_email", email) // take the token, if there is one
	}

	// A key that is bound to origins.
	bound, _, err := s.ledger.CreateKey(t.Context(), account, "bound", book.KeyTerms{Origins: []string{"https://shop.example"}})
	require.NoError(t, err)
	const checks = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_email","arguments":{"email":"jane@mail.example"}}}`
	response, body := s.send(t, http.MethodPost, "/mcp", bound, checks, nil)
	require.Equal(t, 401, response.StatusCode, body)
	require.Equal(t, `Bearer realm="addrspec"`, response.Header.Get("Www-Authenticate"))
	response, body = s.send(t, http.MethodPost, "/mcp", bound, checks, http.Header{"Origin": {"https://shop.example"}, "X-Request-Id": {"trace-1"}})
	require.Equal(t, 200, response.StatusCode, body)
	require.Contains(t, body, `"mx":true`)
	require.Equal(t, "https://shop.example", response.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "trace-1", response.Header.Get("X-Request-Id"))
	require.Equal(t, 2, strings.Count(s.wholeLog(t), `"request_id":"trace-1"`), "of the message and of the operation")
	require.NotContains(t, s.log.String(), "mail.example")
	require.NotContains(t, s.log.String(), key[:12])
}

// A foreign request gets an error in the form of the API, or, from the body on, of the
// protocol; it costs nothing. Package mcp tests what no message is.
func TestMCPOverHTTPRefuses(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	key := s.newKey(t)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, c := range map[string]struct {
		method, key, body string
		header            http.Header
		status            int
		says              string
	}{
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

	// A page may ask; a proxy on this machine passes another name on.
	response, _ := s.send(t, http.MethodOptions, "/mcp", "", "", http.Header{"Origin": {"https://shop.example"}})
	require.Equal(t, 204, response.StatusCode)
	require.Contains(t, response.Header.Get("Access-Control-Allow-Headers"), "X-API-Key")
	require.Contains(t, response.Header.Get("Access-Control-Allow-Headers"), "Mcp-Protocol-Version")
	request := origintest.Request{Method: http.MethodPost, Target: "/mcp", Body: list,
		Header: []string{"Authorization: Bearer " + key, "Content-Type: application/json"}}
	response, body := origintest.Exchange(t, s.hostPort, request.Text("addrspec.example"), hung)
	require.Equal(t, 200, response.StatusCode, body)
}

// An assistant that disconnects during a call is not charged, and its points and memory are free
// again before the lookup could have timed out. A call in progress gets what is finished when the
// service stops, and pays for that.
func TestMCPOverHTTPEnds(t *testing.T) {
	t.Parallel()
	dns := silentZone(t)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "20s", "--batch-timeout", "20s")
	key, _ := s.limitedKey(t, 3)
	_, _, err := s.post(key, []string{"b@mail.example"}) // later its domain is in the cache
	require.NoError(t, err)
	header := requestHeader("POST", "/mcp", key, fmt.Sprintf("Content-Length: %d\r\n", len(slowCall)))
	conn := origintest.Dial(t, s.hostPort, hung).Send(header + slowCall)
	await(t, func() bool { return dns.Asked("silent.example") > 0 })
	require.Positive(t, s.metric(t, "addrspec_body_bytes"))
	require.NoError(t, conn.Close())
	await(t, func() bool {
		_, text := s.send(t, http.MethodPost, "/v1/emails", key, `{"emails":["x","y","z"]}`, nil)
		return strings.Contains(text, `"remaining":2`)
	})
	s.awaitMetric(t, "addrspec_body_bytes", 0)
	require.EqualValues(t, 1, s.used(t))

	asked, hits := dns.Asked("silent.example"), s.metric(t, "addrspec_mx_cache_hits_total")
	conn = origintest.Dial(t, s.hostPort, hung).Send(header + slowCall)
	await(t, func() bool {
		return dns.Asked("silent.example") > asked && s.metric(t, "addrspec_mx_cache_hits_total") > hits
	})
	s.stop()
	response, text := conn.Response()
	require.Equal(t, 200, response.StatusCode, text)
	require.Contains(t, text, `2 addresses: 1 valid, 0 not valid, 1 not checked.`)
	require.Contains(t, text, `"code":"REQUEST_CANCELLED"`)
	s.requireStopped(t)
	require.EqualValues(t, 2, s.used(t))
}

func silentZone(t testing.TB) *mxtest.Server {
	server := mxtest.New(t, contract.Zone)
	server.Respond("silent.example", mxtest.Silent)
	return server
}
