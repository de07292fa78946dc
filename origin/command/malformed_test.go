package command

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// Malformed and odd requests, whether net/http refuses them before a handler runs
// or not, get a response in shape A whose sentence names the reason.
func TestMalformedHTTP(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	const end = "Host: x\r\n\r\n"
	for name, c := range map[string]struct {
		request string
		status  int
		message string
	}{
		"percent in another path": {"GET /v1/a%ZZ HTTP/1.1\r\n" + end, 400, "percent sign"},
		"percent in an address":   {"GET /v1/email/a%ZZ@mail.example HTTP/1.1\r\n" + end, 400, "not written %25"},
		"NUL in the target":       {"GET /v1/email/a\x00@mail.example HTTP/1.1\r\n" + end, 400, "request line"},
		"TLS":                     {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", 400, "request line"},
		"no target":               {"GET\r\n\r\n", 400, "request line"},
		"HTTP/0.9":                {"GET /\r\n\r\n", 400, "request line"},
		"another protocol":        {"GET / SIP/1.1\r\n" + end, 400, "request line"},
		"odd method":              {"G(T / HTTP/1.1\r\n" + end, 400, "request line"},
		"HTTP/2.0 in plain text":  {"GET / HTTP/2.0\r\n" + end, 505, "use HTTP/1.1"},
		"HTTP/9.9":                {"GET / HTTP/9.9\r\n" + end, 505, "use HTTP/1.1"},
		"preface of HTTP/2":       {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 404, "no such path"},
		"OPTIONS *":               {"OPTIONS * HTTP/1.1\r\n" + end, 404, "no such path"},
		"CONNECT":                 {"CONNECT x:443 HTTP/1.1\r\n" + end, 404, "no such path"},
		"target without a slash":  {"GET v1/email HTTP/1.1\r\n" + end, 400, "request line"},
		"no host":                 {"GET / HTTP/1.1\r\n\r\n", 400, "a header is malformed"},
		"two hosts":               {"GET / HTTP/1.1\r\nHost: y\r\n" + end, 400, "header"},
		"malformed host":          {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "a header is malformed"},
		"huge header":             {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", 431, "over 32 KiB"},
		"many headers":            {"GET / HTTP/1.1\r\n" + strings.Repeat("X:\r\n", 100) + end, 431, "100 lines"},
		"huge request line":       {"GET /" + strings.Repeat("x", 80<<10) + " HTTP/1.1\r\n" + end, 431, "over 32 KiB"},
		"space in a name":         {"GET / HTTP/1.1\r\nX y: z\r\n" + end, 400, "a header is malformed"},
		"no colon":                {"GET / HTTP/1.1\r\nXy\r\n" + end, 400, "a header"},
		"NUL in a value":          {"GET / HTTP/1.1\r\nX: \x00\r\n" + end, 400, "header"},
		"DEL in a value":          {"GET / HTTP/1.1\r\nX: \x7f\r\n" + end, 400, "a header"},
		"folded first header":     {"GET / HTTP/1.1\r\n X: y\r\n" + end, 400, "a header"},
		"unknown coding":          {"POST /v1/emails HTTP/1.1\r\nTransfer-Encoding: odd\r\n" + end, 501, "Transfer-Encoding is not known"},
		"two codings":             {"POST /v1/emails HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n" + end, 501, "Transfer-Encoding is not known"},
		"two lengths":             {"POST /v1/emails HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n" + end, 400, "a header is malformed"},
		"length below zero":       {"POST /v1/emails HTTP/1.1\r\nContent-Length: -1\r\n" + end, 400, "a header is malformed"},
		"length not a number":     {"POST /v1/emails HTTP/1.1\r\nContent-Length: 1e3\r\n" + end, 400, "a header is malformed"},
		"unknown expectation":     {"POST /v1/emails HTTP/1.1\r\nExpect: x\r\nContent-Length: 3\r\n" + end + "abc", 417, "100-continue"},
		"the same, HTTP/1.0":      {"GET /v1/email/x HTTP/1.0\r\nExpect: x\r\n" + end, 417, "100-continue"},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := origintest.Exchange(t, s.hostPort, c.request, hung)
			require.Equal(t, c.status, response.StatusCode, body)
			require.Equal(t, "application/json", response.Header.Get("Content-Type"))
			require.Equal(t, "no-store", response.Header.Get("Cache-Control"))
			require.NotEmpty(t, response.Header.Get("X-Request-Id"))
			require.Contains(t, body, fmt.Sprintf(`{"status":%d,"error":"`, c.status))
			require.Contains(t, body, c.message)
		})
	}
	s.requireHealthy(t)
}

// A request with Expect: 100-continue gets 401 or, once the key is accepted, 100.
func TestContinueAfterTheKey(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	for key, first := range map[string]string{book.NewSecret(): "HTTP/1.1 401 ", s.newKey(t): "HTTP/1.1 100 "} {
		conn := origintest.Dial(t, s.hostPort, hung)
		conn.Send(requestHeader("POST", "/v1/emails", key, "Expect: 100-Continue\r\nContent-Length: 1000\r\n"))
		head := make([]byte, len(first))
		_, err := io.ReadFull(conn, head)
		require.NoError(t, err)
		require.Equal(t, first, string(head))
	}
}

// A request that breaks off does not keep its connection open and is not charged.
func TestHalfSentRequests(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	key := s.newKey(t)
	for name, half := range map[string]string{
		"within the header": "POST /v1/emails HTTP/1.1\r\nHost: x\r\nX-API-K",
		"within the body":   "POST /v1/emails HTTP/1.1\r\nHost: x\r\nX-API-Key: " + key + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"emails\":[\"a@mail",
	} {
		t.Run(name, func(t *testing.T) {
			conn := origintest.Dial(t, s.hostPort, hung).Send(half)
			require.NoError(t, conn.CloseWrite())
			_, err := io.ReadAll(conn)
			require.NoError(t, err, "the connection stays open")
		})
	}
	require.Zero(t, s.used(t), "points charged")
	s.requireHealthy(t)
}

// requestHeader returns the header of a request with a key.
func requestHeader(method, target, key, headers string) string {
	return method + " " + target + " HTTP/1.1\r\nHost: x\r\nX-API-Key: " + key + "\r\nContent-Type: application/json\r\n" + headers + "\r\n"
}

// A client that sends a body shorter than announced, and still reads, learns where
// the body broke off.
func TestHalfClosedShortBody(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	key := s.newKey(t)
	for name, c := range map[string]struct{ headers, body, message string }{
		"announced": {"Content-Length: 100\r\n", strings.Repeat(" ", 50), "The body broke off after 50 bytes"},
		"in chunks": {"Transfer-Encoding: chunked\r\n", "64\r\n" + strings.Repeat(" ", 50), "The body broke off after 50 bytes"},
		"no end":    {"Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n", "The body broke off after 2 bytes"},
		"bad chunk": {"Transfer-Encoding: chunked\r\n", "2\r\n{}\r\nzz\r\n", "The body's chunked transfer coding is malformed after 2 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := origintest.Dial(t, s.hostPort, hung).Send(requestHeader("POST", "/v1/emails", key, c.headers) + c.body)
			require.NoError(t, conn.CloseWrite())
			response, body := conn.Response()
			require.Equal(t, 400, response.StatusCode)
			require.Contains(t, body, `{"success":false,"error":{"code":"INVALID_REQUEST","message":"`+c.message)
		})
	}
}

// A client that closes or resets the connection before the response is not charged
// and is not counted as an error of the service: log and metrics have status 499.
func TestDisconnectIsStatus499(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--dns-timeout", "20s")
	key := s.newKey(t)
	slow := `{"emails":["a@silent.example"]}`
	half := requestHeader("POST", "/v1/emails", key, "Content-Length: 100\r\n") + `{"emails":["a@mail`
	disconnected := 0
	for name, request := range map[string]string{
		"within the body":    half,
		"waiting, by GET":    requestHeader("GET", "/v1/email/a@silent.example", key, ""),
		"waiting, by POST":   requestHeader("POST", "/v1/emails", key, fmt.Sprintf("Content-Length: %d\r\n", len(slow))) + slow,
		"within a long body": half[:len(half)-1] + strings.Repeat(" ", 50),
		"another GET":        requestHeader("GET", "/v1/email/b@silent.example", key, ""),
	} {
		for way, disconnect := range map[string]func(*net.TCPConn){
			"closed": func(c *net.TCPConn) { c.Close() },
			"reset":  func(c *net.TCPConn) { c.SetLinger(0); c.Close() },
		} {
			t.Run(name+"/"+way, func(t *testing.T) {
				conn := origintest.Dial(t, s.hostPort, hung).Send(request)
				require.Eventually(t, func() bool { return strings.Contains(s.metrics(t), "\naddrspec_ledger_under_way 1\n") },
					hung, 5*time.Millisecond)
				disconnect(conn.TCPConn)
				disconnected++
				require.Eventually(t, func() bool { return strings.Count(s.log.String(), `"status":499`) == disconnected },
					hung, 5*time.Millisecond, s.log)
			})
		}
	}
	require.Zero(t, s.used(t), "points charged")
	require.NotContains(t, s.log.String(), `"level":"ERROR"`)
	page := s.metrics(t)
	require.Contains(t, page, `addrspec_requests_total{route="single",status="499"} 4`)
	require.Contains(t, page, `addrspec_requests_total{route="batch",status="499"} 6`)
	require.NotContains(t, page, `status="503"`)
}

// A client that closes its side for writing after a whole request looks like one
// that has disconnected. If it still reads, it gets 503 with an explanation.
func TestHalfClosedWholeRequest(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--dns-timeout", "20s")
	conn := origintest.Dial(t, s.hostPort, hung)
	conn.Send(requestHeader("GET", "/v1/email/a@silent.example", s.newKey(t), ""))
	require.NoError(t, conn.CloseWrite())
	response, body := conn.Response()
	require.Equal(t, 503, response.StatusCode)
	require.Contains(t, body, "Keep both directions open")
}
