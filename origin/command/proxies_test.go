package command

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httputil"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

func eachProxy(t *testing.T, test func(t *testing.T, kind proxyKind)) {
	leftToCI(t)
	for _, kind := range proxyKinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			test(t, kind)
		})
	}
}

// The configurations of deploy in front of the real program.
func TestProxies(t *testing.T) {
	eachProxy(t, func(t *testing.T, kind proxyKind) {
		service := launch(t, nil, "--dns", contract.Serve(t), "--dns-timeout", "500ms", "--batch-timeout", "20s")
		p := kind.start(t, service.hostPort)
		t.Run("contract", func(t *testing.T) { // but for the cases to which the proxy itself responds
			cases := contract.Cases(t)
			passed := slices.DeleteFunc(slices.Clone(cases), func(c contract.Case) bool { return slices.Contains(kind.refuses, c.Name) })
			require.Less(t, len(cases)-len(passed), 10, "the proxy refuses more itself than it passes on")
			contract.Run(t, passed, p.plain, service.ledger, contract.NewSurvey(t, ""), "Server")
		})
		t.Run("malformed", p.requireMalformedIsJSON)
		t.Run("operator's paths", func(t *testing.T) { p.requireOperatorsPathsHidden(t, service.instance) })
		t.Run("bodies", func(t *testing.T) { p.requireBodiesPass(t, kind.waitsForBody, service.newKey(t)) })
		t.Run("TLS", p.requireTLS)
	})
}

// What the proxy refuses itself is refused as the service would, in JSON if the
// proxy can be configured to: Caddy's HTTP server cannot for what it does not parse.
func (p *proxyServer) requireMalformedIsJSON(t *testing.T) {
	const end = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
	for request, statuses := range map[string][]int{
		"GET /v1/email/jane%ZZ@mail.example" + end + "\r\n":                             {400},
		"GET /v1/email/a%00b@mail.example" + end + "\r\n":                               {400, 401},
		"GET /v1/email/" + strings.Repeat("a", 70<<10) + "@mail.example" + end + "\r\n": {431},
		"POST /v1/emails" + end + "Transfer-Encoding: odd\r\n\r\n":                      {501},
		"GET / HTTP/9.9\r\nHost: x\r\n\r\n":                                             {505},
	} {
		response, body := origintest.Exchange(t, p.plain, request, hung)
		require.Contains(t, statuses, response.StatusCode, "%.40s: %s", request, body)
		if response.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			require.Equal(t, "application/json", response.Header.Get("Content-Type"), body)
			require.NotEmpty(t, response.Header.Get("X-Request-Id"))
		}
	}
}

// The service has no operator's listener here, so the proxy alone hides its paths.
func (p *proxyServer) requireOperatorsPathsHidden(t *testing.T, s *instance) {
	for _, path := range []string{"/metrics", "/readyz"} {
		s.requireStatus(t, http.StatusOK, path, "", "")
		for _, target := range []string{path, path + "?a", "/." + path, "//" + path[1:], "/%" + fmt.Sprintf("%x", path[1]) + path[2:], strings.ToUpper(path), path + "/"} {
			response, body := sendThrough(t, p.plain, "GET", target, "")
			require.Equal(t, http.StatusNotFound, response.StatusCode, "%s: %s", target, body)
			require.Equal(t, "application/json", response.Header.Get("Content-Type"), target)
		}
	}
	response, _ := sendThrough(t, p.plain, "GET", "/healthz", "")
	require.Equal(t, http.StatusOK, response.StatusCode)
}

func sendThrough(t *testing.T, hostPort, method, target, body string, header ...string) (*http.Response, string) {
	t.Helper()
	request := origintest.Request{Method: method, Target: target, Header: header, Body: body}
	return origintest.Exchange(t, hostPort, request.Text("addrspec.example"), hung)
}

// A body over the limit gets the service's response, one that is much longer the
// same; and the key is checked before the body arrives, if the proxy lets it.
func (p *proxyServer) requireBodiesPass(t *testing.T, waits bool, key string) {
	for _, size := range []int{1<<20 + 1, 3 << 20} {
		response, body := sendThrough(t, p.plain, "POST", "/v1/emails", strings.Repeat(" ", size), "X-API-Key: "+key, "Content-Type: application/json")
		require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode, body)
		require.Contains(t, body, `{"success":false,"error":{"code":"BODY_TOO_LARGE"`)
	}
	if !waits {
		conn := origintest.Dial(t, p.plain, hung)
		response, _ := conn.Send("POST /v1/emails HTTP/1.1\r\nHost: addrspec.example\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n").Response()
		require.Equal(t, http.StatusUnauthorized, response.StatusCode, "before the body")
	}
}

// The port for TLS serves HTTP/2, and the other one no operation.
func (p *proxyServer) requireTLS(t *testing.T) {
	response := must(p.client.Get("https://" + p.tls + "/v1/email/a%2F%2Fb%40mail.example"))(t)
	response.Body.Close()
	require.Equal(t, 2, response.ProtoMajor)
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)

	refused, body := sendThrough(t, p.insecure, "GET", "/v1/email/jane@mail.example", "")
	require.Equal(t, http.StatusForbidden, refused.StatusCode, body)
	redirected, _ := sendThrough(t, p.insecure, "GET", "/docs?x", "")
	require.Equal(t, "https://addrspec.example/", redirected.Header.Get("Location"))
}

// An upstream is a server that records each request as it came, and responds as
// respond does, or not at all if that returns "".
type upstream struct {
	net.Listener
	respond func(request string) string

	mu   sync.Mutex
	seen []string
}

func newUpstream(t *testing.T, respond func(string) string) *upstream {
	u := &upstream{Listener: must(net.Listen("tcp", "127.0.0.1:0"))(t), respond: respond}
	t.Cleanup(func() { u.Close() })
	go func() {
		for conn, err := u.Accept(); err == nil; conn, err = u.Accept() {
			go u.serve(conn)
		}
	}()
	return u
}

// serve reads requests, with their bodies, until one gets no response.
func (u *upstream) serve(conn net.Conn) {
	defer conn.Close()
	var header strings.Builder
	in := bufio.NewReader(conn)
	for line, err := in.ReadString('\n'); err == nil; line, err = in.ReadString('\n') {
		header.WriteString(line)
		if line != "\r\n" {
			continue
		}
		text := header.String()
		header.Reset()
		u.mu.Lock()
		u.seen = append(u.seen, text)
		u.mu.Unlock()
		request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		switch {
		case err != nil:
		case request.ContentLength >= 0:
			_, err = io.CopyN(io.Discard, in, request.ContentLength)
		default:
			if _, err = io.Copy(io.Discard, httputil.NewChunkedReader(in)); err == nil {
				_, err = in.ReadString('\n') // after the last chunk
			}
		}
		response := u.respond(text)
		if err != nil || response == "" {
			return
		}
		_, _ = io.WriteString(conn, response)
	}
}

func (u *upstream) take() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	seen := u.seen
	u.seen = nil
	return seen
}

const emptyResponse = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

// Every target arrives as it was sent, with the client's address in place of what
// the client says about itself.
func TestProxiesPassTargets(t *testing.T) {
	eachProxy(t, func(t *testing.T, kind proxyKind) {
		u := newUpstream(t, func(string) string { return emptyResponse })
		p := kind.start(t, u.Addr().String())
		for _, target := range []string{
			"/v1/email/a%2F%2Fb%40mail.example", "/v1/email/a//b/../c@mail.example", "/v1/email/%22..%2F%22%40mail.example",
			"/v1/email/Jane%2BNews+x%40Mail.Example", "/v1/email/a%2540b%40mail.example", "/v1/email/%6a%61ne@mail.example",
			"/v1/email/.", "/v1/email/..", "/v1/email//", "/v1/email/a%0D%0Ab@mail.example", "/v1/email/a%FFb@mail.example",
			"/v1/email/jane@[192.0.2.1]", "/v1/email/j%C3%BCrgen@mail.example?details=true", "//v1/email/a", "/v1/email/a%3Fb%23c@mail.example",
			"/v1/email/a;b=c@mail.example", "/v1/email/a?details=tru%65&c", "/v1/email/" + strings.Repeat("%61", 4096) + "@mail.example",
		} {
			response, body := sendThrough(t, p.plain, "GET", target, "", "X-Forwarded-For: 192.0.2.7")
			require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", target, body)
			seen := u.take()
			require.Len(t, seen, 1, target)
			require.Equal(t, "GET "+target+" HTTP/1.1\r\n", seen[0][:strings.Index(seen[0], "\n")+1])
			require.Contains(t, seen[0], "\r\nX-Forwarded-For: 127.0.0.1\r\n")
			require.NotContains(t, seen[0], "192.0.2.7")
		}
	})
}

// The check for other load balancers in proxy.md passes without any proxy.
func TestCheckOfProxiesPasses(t *testing.T) {
	t.Parallel()
	check := regexp.MustCompile("https://addrspec.example(/v1/email/[^`]+)`:\n[^`]+`email` be `([^`]+)`").
		FindStringSubmatch(textOf(t, "../deploy/proxy.md"))
	require.Len(t, check, 3)
	s := start(t, "--dns", contract.Serve(t))
	s.requireStatus(t, http.StatusOK, check[1], s.newKey(t), `{"email":"`+check[2]+`",`)
}

// A POST that gets no response is sent once, also on a connection that was used before, on which
// HTTP clients usually send a request again. nginx may send a GET to the next server.
func TestProxiesSendOnce(t *testing.T) {
	eachProxy(t, func(t *testing.T, kind proxyKind) {
		u := newUpstream(t, func(request string) string {
			if strings.Contains(request, "unserved") {
				return ""
			}
			return emptyResponse
		})
		p := kind.start(t, u.Addr().String())
		for range 5 {
			response, _ := sendThrough(t, p.plain, "GET", "/v1/email/served@mail.example", "")
			require.Equal(t, http.StatusOK, response.StatusCode)
			u.take()
			for method, most := range map[string]int{"GET": kind.sendsGET, "POST": 1} {
				response, body := sendThrough(t, p.plain, method, "/v1/email/unserved@mail.example", "", "Idempotency-Key: one")
				require.Equal(t, http.StatusBadGateway, response.StatusCode, body)
				require.Contains(t, body, `{"status":502,"error":"The service did not respond`)
				require.LessOrEqual(t, len(u.take()), most, method)
			}
		}
	})
}

// A request whose end proxy and service could find at different places is refused by the
// proxy, or goes upstream with one length (RFC 9112 section 6.3): the service itself reads a
// body with two of them by its chunks.
func TestProxiesSendOneLength(t *testing.T) {
	// Each has a body in which one of two readers could find a further request.
	const hidden = "GET /hidden HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
	byChunks := "0\r\n\r\n" + hidden
	byLength := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(hidden), hidden)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(byChunks))
	framings := map[string]string{"two lengths": length + "Content-Length: 5\r\n\r\n" + byChunks}
	for _, coding := range []string{"Transfer-Encoding: chunked", "Transfer-Encoding:\tchunked ", "transfer-encoding:chunked", "Transfer-Encoding: Chunked",
		"Transfer-Encoding : chunked", "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, identity", "Transfer-Encoding: identity, chunked",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "X: y\r\n Transfer-Encoding: chunked", "Transfer-Encoding: \x0bchunked", "Transfer_Encoding: chunked"} {
		framings["a length, "+coding] = length + coding + "\r\n\r\n" + byChunks
		framings[coding+", a length"] = coding + "\r\n" + length + "\r\n" + byChunks
		framings["a short length, "+coding] = "Content-Length: 4\r\n" + coding + "\r\n\r\n" + byLength
	}
	eachProxy(t, func(t *testing.T, kind proxyKind) {
		u := newUpstream(t, func(string) string { return emptyResponse })
		p := kind.start(t, u.Addr().String())
		for name, framing := range framings {
			for _, version := range []string{"1.1", "1.0\r\nConnection: keep-alive"} {
				conn := origintest.Dial(t, p.plain, hung)
				response, body := conn.Send("POST /v1/emails HTTP/" + version + "\r\nHost: addrspec.example\r\n" + framing).Response()
				require.Contains(t, []int{200, 400, 501}, response.StatusCode, "%s: %s", name, body)
				conn.Close()
			}
		}
		response, body := sendThrough(t, p.plain, "POST", "/v1/emails", "{}")
		require.Equal(t, http.StatusOK, response.StatusCode, body)
		for _, request := range u.take() {
			require.Contains(t, request, "\r\nX-Forwarded-For: 127.0.0.1\r\n", "not the proxy's request")
			header := strings.ToLower(request)
			lengths := strings.Count(header, "\r\ncontent-length:") + strings.Count(header, "\r\ntransfer-encoding:")
			require.LessOrEqual(t, lengths, 1, request)
			require.False(t, lengths == 0 && strings.HasPrefix(request, "POST"), request)
		}
	})
}

// hostile is the address that hostile requests have; neither part may be in a log, nor the start
// of a key.
const hostile = "hidden.marker@secretive.example"

// No file that a proxy writes has an address or a key, whatever the client sends
// and whatever the upstream does.
func TestProxyLogsHaveNoAddress(t *testing.T) {
	eachProxy(t, func(t *testing.T, kind proxyKind) {
		u := newUpstream(t, respondBadly)
		p := kind.start(t, u.Addr().String())
		p.sendHostile()
		require.NoError(t, u.Close())
		p.sendHostile()
		await(t, func() bool { return strings.Contains(textOf(t, p.logs+"/addrspec.log"), `"status":502`) })
		files := 0
		require.NoError(t, filepath.WalkDir(p.logs, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			files++
			found := regexp.MustCompile(`(?s).{0,200}(hidden.marker|secretive.example|ask_hidden).{0,100}`).FindString(textOf(t, path))
			require.Empty(t, found, path)
			return nil
		}))
		require.Greater(t, files, 3)
	})
}

func respondBadly(request string) string {
	line, _, _ := strings.Cut(request, "\r\n")
	_, query, _ := strings.Cut(strings.TrimSuffix(line, " HTTP/1.1"), "?")
	switch query {
	case "none":
		return ""
	case "half":
		return "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nhalf"
	case "nonsense":
		return hostile + " is not HTTP\r\n\r\n"
	case "header":
		return "HTTP/1.1 200 OK\r\nX-Long: " + strings.Repeat("a", 20<<10) + "\r\n\r\n"
	}
	return emptyResponse
}

// sendHostile sends addresses in every way in which a log could come to have them,
// without TLS also where TLS is expected.
func (p *proxyServer) sendHostile() {
	p.Helper()
	var clients errgroup.Group
	clients.SetLimit(16)
	for _, target := range []string{
		"/v1/email/HOSTILE?ok", "/v1/email/HOSTILE?none", "/v1/email/HOSTILE?half", "/v1/email/HOSTILE?nonsense",
		"/v1/email/HOSTILE?header",
		"/v1/email/hidden.marker%40secretive.example", "/v1/emails/HOSTILE", "/HOSTILE", "//HOSTILE",
		"/v1/../../HOSTILE", "/metrics?HOSTILE",
		"/metrics/HOSTILE", "/v1/email/%ZZHOSTILE", "/v1/email/%00HOSTILE", "/v1/email/\x01HOSTILE",
		"/v1/email/a bHOSTILE",
		"/v1/email/" + strings.Repeat("a", 70<<10) + "HOSTILE", "http://HOSTILE/", "*HOSTILE", "HOSTILE",
		"/v1/email/HOSTILE#HOSTILE",
	} {
		for _, request := range []string{
			"GET TARGET HTTP/1.1\r\nHost: a.example\r\nReferer: https://x/HOSTILE\r\nUser-Agent: HOSTILE\r\n" +
				"X-API-Key: ask_hidden\r\nCookie: HOSTILE\r\nConnection: close\r\n\r\n",
			"POST TARGET HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5000000\r\nConnection: close\r\n\r\nHOSTILE",
			"TRACE TARGET HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n",
			"GET TARGET HTTP/1.1\r\nHost: HOSTILE/\r\nConnection: close\r\n\r\n",
			"GET TARGET HTTP/9.9\r\nHost: a.example\r\n\r\n",
			"GET TARGET HTTP/1.1\r\nHost: a.example\r\nContent-Length: HOSTILE\r\n\r\n",
			"GET TARGET HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: HOSTILE\r\n\r\n",
			"GET TARGET HTTP/1.1\r\nHOSTILE\r\n\r\n",
			"HOSTILE\r\n\r\n",
		} {
			request = strings.ReplaceAll(strings.Replace(request, "TARGET", target, 1), "HOSTILE", hostile)
			for _, at := range []string{p.plain, p.insecure, p.tls} {
				clients.Go(func() error {
					conn, err := origintest.Connect(at, 2*time.Second)
					if err != nil {
						return err
					}
					defer conn.Close()
					_ = conn.SetDeadline(time.Now().Add(500 * time.Millisecond)) // some get no response, since more of them could come
					_, _ = io.WriteString(conn, request)
					_, _ = io.Copy(io.Discard, conn)
					return nil
				})
			}
		}
	}
	require.NoError(p, clients.Wait())
}
