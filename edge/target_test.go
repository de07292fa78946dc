package edge_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostileTargets name paths that the worker must not request, in forms that the URL
// parsers on the way may parse differently.
var hostileTargets = []string{
	"/metrics", "/readyz", "/v1/edge/admit", "/metrics?", "/metrics?x=y", "/metrics/", "/METRICS", "/%6detrics", "/metric%73",
	"/x/../metrics", "/x/%2e%2e/readyz", "/x/%2E./metrics", "/./metrics", "/%2e/metrics", "/x/..\\metrics", "/\\metrics", "/x\\..\\metrics", "/metrics#x", "/metrics#", "/#/../metrics",
	"//metrics", "//evil.example/metrics", "///metrics", "/;/metrics", "/x/..;/metrics", "/x/..%2fmetrics", "/x/..%5cmetrics", "/x/%252e%252e/metrics",
	"/docs/../metrics", "/docs/%2e%2e/metrics", "/assets/../metrics", "/assets/%2e%2e/metrics", "/assets/.%2e/readyz", "/assets/..\\metrics", "/assets//../metrics", "/assets/x/../../metrics",
	"/assets/..", "/assets/../", "/assets/./../metrics", "/healthz/../metrics", "/healthz/..%2f..%2fmetrics", "/healthz#/../../metrics", "/docs?/../metrics#x", "/openapi.json/../readyz",
	"/dashboard/../metrics", "/dashboard/%2e%2e/metrics", "/dashboard/x/..\\..\\readyz", "/dashboard", "/dashboard/keys", "/.well-known/../metrics", "/.well-known/security.txt/../../metrics",
	"/sign-in/../metrics", "/sign-in/%2e%2e/readyz", "/link/..\\metrics", "/link/%2e%2e%2freadyz", "/confirm//../metrics", "/sign-up/../v1/edge/admit", "/sign-out/.%2e/metrics",
	"/v1/emails/../edge/admit", "/v1/usage/../edge/admit", "/v1/./edge/admit", "/v1//edge/admit", "/v1/edge/admit/", "/v1/email/../edge/admit", "/v1/email/../../metrics", "/v1/email/%2e%2e/%2e%2e/metrics",
	"http://evil.example/metrics", "http://evil.example/x/../metrics", "HTTP://evil.example/readyz", "ftp://evil.example/metrics", "evil.example/metrics", "evil.example:80", "*", "metrics", "\\metrics", "?/metrics", "#/metrics", "@evil.example/metrics", ":80/metrics", ".evil.example/metrics",
	"/met\trics", "/x/.\t./metrics", "/x/..\t/metrics", "/x/..\r/metrics", "/metrics\x00", "/metrics\x01", "/\tmetrics", "/x/../metrics ", "/\x7f/../metrics", "/\xff/../metrics", "/x/\xc0\xae\xc0\xae/metrics", "/x/\xe3\x80\x82/../metrics",
}

// The targets that may reach the origin, by ADDRSPEC_FORWARD.
var (
	publicTarget = regexp.MustCompile(`^(/healthz|/openapi\.json|/\.well-known/security\.txt|/v1/emails|/v1/usage|/v1/edge/admit)(\?.*)?$`)
	// A segment is neither "." nor "..".
	peoplesTarget = regexp.MustCompile(`^(/|/(docs|assets|sign-in|sign-up|sign-out|link|confirm|dashboard)(/(\.?[0-9A-Za-z_-][0-9A-Za-z._-]*|\.\.[0-9A-Za-z._-]+))*/?)(\?.*)?$`)
)

// Only the paths of the worker's table reach the origin, however the platform or
// fetch parses the target.
func TestOnlyTableReachesOrigin(t *testing.T) {
	t.Parallel()
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			requireOnlyTable(t, &runtime, "yes", publicTarget)
			requireOnlyTable(t, &runtime, "dashboard", regexp.MustCompile(publicTarget.String()+"|"+peoplesTarget.String()))
		})
	}
}

func requireOnlyTable(t *testing.T, runtime *runtime, forward string, allowed *regexp.Regexp) {
	reached := recordTargets(t)
	w := runtime.start(t, reached.url, "ADDRSPEC_FORWARD="+forward)
	for _, target := range hostileTargets {
		// With a key, since the worker itself checks addresses below /v1/email.
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions, http.MethodTrace, "PURGE"} {
			w.try(t, request{Method: method, Target: target, Header: []string{wellFormedKey}})
		}
	}
	require.Equal(t, http.StatusOK, w.try(t, get("/healthz")), "the recorder works")
	lines := reached.all()
	require.Contains(t, lines, "GET /healthz HTTP/1.1")
	for _, line := range lines {
		method, rest, _ := strings.Cut(line, " ")
		target, _, _ := strings.Cut(rest, " HTTP/")
		require.Regexp(t, allowed, target, line)
		posts := line == "POST /v1/edge/admit HTTP/1.1" || peoplesTarget.MatchString(target) && forward == "dashboard" // the worker's own request, and forms
		require.True(t, method == http.MethodGet || method == http.MethodHead || posts && method == http.MethodPost, line)
	}
}

// try sends r and returns the status, or 0 without a response.
func (p *process) try(t *testing.T, r request) (status int) {
	t.Helper()
	conn := p.dial(t).Send(r.Text(p.hostPort))
	defer conn.Close()
	response, err := conn.ReadHeader(r.Method)
	if err != nil {
		return 0
	}
	return response.StatusCode
}

// targets records the request lines that reach an origin.
type targets struct {
	url   string
	mu    sync.Mutex
	lines []string
}

// recordTargets starts an origin that records request lines.
func recordTargets(t *testing.T) *targets {
	r := &targets{}
	r.url = listenTCP(t, r.serve)
	return r
}

// serve reads one request without parsing it, since a parser could change what was
// sent.
func (r *targets) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	if err != nil {
		return
	}
	r.mu.Lock()
	r.lines = append(r.lines, strings.TrimRight(line, "\r\n"))
	r.mu.Unlock()
	for line != "\r\n" && err == nil {
		line, err = in.ReadString('\n')
	}
	io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

func (r *targets) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.lines...)
}
