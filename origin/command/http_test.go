package command

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// Malformed and odd requests, whether net/http refuses them before a handler runs or not, get a
// response in shape A whose sentence names the reason. Package conn tests how they are found.
func TestMalformedHTTP(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	const end = "Host: x\r\n\r\n"
	for request, c := range map[string]struct {
		status  int
		message string
	}{
		"GET /v1/a%ZZ HTTP/1.1\r\n" + end:                    {400, "percent sign"},
		"GET /v1/email/a%ZZ@mail.example HTTP/1.1\r\n" + end: {400, "not written %25"},
		"GET v1/email HTTP/1.1\r\n" + end:                    {400, "request line"},
		"GET / HTTP/2.0\r\n" + end:                           {505, "use HTTP/1.1"},
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                   {404, "no such path"},
		"OPTIONS * HTTP/1.1\r\n" + end:                       {404, "no such path"},
		"CONNECT x:443 HTTP/1.1\r\n" + end:                   {404, "no such path"},

		"GET / HTTP/1.1\r\n" + strings.Repeat("X:\r\n", 100) + end:                     {431, "100 lines"},
		"GET /" + strings.Repeat("x", 80<<10) + " HTTP/1.1\r\n" + end:                  {431, "over 32 KiB"},
		"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n" + end:                {501, "is not known"},
		"POST /v1/emails HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n" + end: {400, "a header is malformed"},
		"POST /v1/emails HTTP/1.1\r\nExpect: x\r\nContent-Length: 3\r\n" + end + "abc": {417, "100-continue"},
	} {
		response, body := origintest.Exchange(t, s.hostPort, request, hung)
		require.Equal(t, c.status, response.StatusCode, "%.60q: %s", request, body)
		require.Equal(t, "application/json", response.Header.Get("Content-Type"))
		require.Equal(t, "no-store", response.Header.Get("Cache-Control"))
		require.NotEmpty(t, response.Header.Get("X-Request-Id"))
		require.Contains(t, body, fmt.Sprintf(`{"status":%d,"error":"`, c.status))
		require.Contains(t, body, c.message)
	}
	s.requireHealthy(t)
}

func requestHeader(method, target, key, headers string) string {
	return method + " " + target + " HTTP/1.1\r\nHost: x\r\nX-API-Key: " + key + "\r\nContent-Type: application/json\r\n" + headers + "\r\n"
}

// A request that breaks off does not keep its connection open and is not charged. A client
// that still reads learns where its body broke off, and that both directions must be open.
func TestHalfSentRequests(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--dns-timeout", "20s")
	key := s.newKey(t)
	header, chunked := requestHeader("POST", "/v1/emails", key, "Content-Length: 100\r\n"),
		requestHeader("POST", "/v1/emails", key, "Transfer-Encoding: chunked\r\n")
	for half, says := range map[string]string{
		"POST /v1/emails HTTP/1.1\r\nHost: x\r\nX-API-K":            "",
		header + strings.Repeat(" ", 50):                            "The body broke off after 50 bytes",
		chunked + "64\r\n" + strings.Repeat(" ", 50):                "The body broke off after 50 bytes",
		chunked + "2\r\n{}\r\nzz\r\n":                               "coding is malformed after 2 bytes",
		requestHeader("GET", "/v1/email/a@silent.example", key, ""): "Keep both directions open",
	} {
		conn := origintest.Dial(t, s.hostPort, hung).Send(half)
		require.NoError(t, conn.CloseWrite())
		text, err := io.ReadAll(conn)
		require.NoError(t, err, "the connection stays open")
		require.Contains(t, string(text), says)
	}
	require.Zero(t, s.used(t), "points charged")
	s.requireHealthy(t)
}

// A client that closes or resets the connection before the response is not charged
// and is not counted as an error of the service: log and metrics have status 499. Its points
// are available again before the lookup could have timed out.
func TestDisconnectIsStatus499(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--dns-timeout", "1m", "--batch-timeout", "1m")
	key, _ := s.limitedKey(t, 1)
	const slow = `{"emails":["a@silent.example"]}`
	disconnected := 0
	for _, request := range []string{
		requestHeader("POST", "/v1/emails", key, "Content-Length: 100\r\n") + `{"emails":["a@mail`,
		requestHeader("GET", "/v1/email/a@silent.example", key, ""),
		requestHeader("POST", "/v1/emails", key, fmt.Sprintf("Content-Length: %d\r\n", len(slow))) + slow,
	} {
		for _, reset := range []bool{false, true} {
			conn := origintest.Dial(t, s.hostPort, hung).Send(request)
			s.awaitMetric(t, "addrspec_ledger_in_progress", 1)
			if reset {
				require.NoError(t, conn.SetLinger(0))
			}
			require.NoError(t, conn.Close())
			disconnected++
			await(t, func() bool { return strings.Count(s.log.String(), `"status":499`) == disconnected }, s.log)
		}
	}
	require.Zero(t, s.used(t), "points charged")
	s.requireStatus(t, http.StatusOK, "/v1/email/a@[192.0.2.1]", key, "") // the only point
	require.NotContains(t, s.log.String(), `"level":"ERROR"`)
	s.requireStatus(t, http.StatusOK, "/metrics", "", `addrspec_requests_total{route="single",status="499"} 2`)
	s.requireStatus(t, http.StatusOK, "/metrics", "", `addrspec_requests_total{route="batch",status="499"} 4`)
}

// Addresses and keys appear in responses to their own callers only: not in the
// log, the metrics, the database or an error.
func TestAddressesAndKeysAreNotRecorded(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a"
	s := start(t, "--dns", contract.Serve(t), "--dns-timeout", "300ms")
	key := s.newKey(t)
	for _, address := range []string{canary + "@mail.example", canary + "@servfail.example", canary + "@silent.example",
		canary + "..x@mail.example", canary + "%00@mail.example", "x@" + canary + ".example", canary} {
		s.send(t, http.MethodGet, "/v1/email/"+address, key, "", nil)
	}
	for n, body := range []string{`{"emails":["` + canary + `@mail.example","` + canary + `@servfail.example"]}`,
		`{"emails":"` + canary + `"}`, `{"` + canary, canary} {
		_, text := s.send(t, http.MethodPost, "/v1/emails", key, body, http.Header{"Idempotency-Key": {canary}})
		require.True(t, n == 0 || !strings.Contains(text, canary), "the error contains the input: %s", text)
	}
	_, metrics := s.send(t, http.MethodGet, "/metrics", "", "", nil)
	require.Contains(t, metrics, "addrspec_requests_total")
	log := s.wholeLog(t)
	for _, secret := range []string{canary, key[:12]} {
		require.NotContains(t, log+metrics, secret)
	}
	s.requireNotStored(t, canary, key)
}

func (s *instance) requireNotStored(t *testing.T, secrets ...string) {
	t.Helper()
	files := must(filepath.Glob(strings.TrimPrefix(s.database, "sqlite:") + "*"))(t)
	require.NotEmpty(t, files)
	for _, file := range files {
		for _, secret := range secrets {
			require.NotContains(t, textOf(t, file), secret, file)
		}
	}
}

func launchPiped(t *testing.T, args ...string) (p *process, reader *os.File) {
	reader, out, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { reader.Close() })
	p = launch(t, func(cmd *exec.Cmd) { cmd.Stderr = out }, args...)
	require.NoError(t, out.Close())
	return p, reader
}

// A stalled reader of the log blocks no request and no stop.
func TestStalledLogBlocksNoRequest(t *testing.T) {
	t.Parallel()
	p, _ := launchPiped(t, "--grace", "1s")
	key := p.newKey(t) // the lines of requests without an account are limited
	for n := 0; p.metric(t, "addrspec_log_dropped_lines_total") == 0; n++ {
		require.Less(t, n, 100, "the memory for lines is not bounded")
		var clients sync.WaitGroup
		for range 16 {
			clients.Go(func() {
				for range 50 {
					_, _, _ = p.get(key, "/v1/usage")
				}
			})
		}
		clients.Wait()
	}
	p.requireHealthy(t)
	require.NoError(t, p.Terminate(hung))
}

func TestClosedLogDoesNotEndService(t *testing.T) {
	t.Parallel()
	p, reader := launchPiped(t)
	require.NoError(t, reader.Close())
	await(t, func() bool { return p.metric(t, "addrspec_log_dropped_lines_total") > 0 })
	p.requireHealthy(t)
	require.NoError(t, p.Terminate(hung))
}

// A form that arrives slowly is given up. dashboard's test of the same name shows that such forms block nobody.
func TestSlowFormEnds(t *testing.T) {
	t.Parallel()
	s := start(t)
	response, body := origintest.Dial(t, s.hostPort, hung).Send("POST /sign-in HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n" +
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\n\r\n").Response()
	require.Equal(t, http.StatusRequestTimeout, response.StatusCode)
	require.Contains(t, body, "did not arrive within 3 seconds")
}
