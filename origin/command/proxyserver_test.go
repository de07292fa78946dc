package command

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

type proxyServer struct {
	*testing.T
	program  string
	tls      string       // the address that deploy has as port 443
	plain    string       // the same without TLS, for the tests that send raw requests
	insecure string       // the address that deploy has as port 80
	logs     string       // the directory of every file that it writes, its output included
	client   *http.Client // accepts the certificate, for example.com
}

// A proxyKind is a proxy for which deploy has a configuration.
type proxyKind struct {
	name         string
	start        func(t *testing.T, upstreams ...string) *proxyServer
	sendsGET     int      // how often it sends a GET that gets no response, at most
	waitsForBody bool     // it passes no response on before the whole body has come
	refuses      []string // the contract's cases that it responds itself, with 400 for HTTP that is not well-formed
}

var proxyKinds = []proxyKind{
	{"nginx", startNginx, 2, false, []string{"single: malformed: a percent sign without two hexadecimal digits", "single: malformed: NUL",
		"key: Authorization twice", "key: Authorization twice beside X-API-Key, which wins"}},
	{"caddy", startCaddy, 1, true, []string{"single: malformed: a percent sign without two hexadecimal digits"}},
}

// nginxMain is what Debian's nginx.conf has around the files of conf.d, with logs
// that are as talkative as an operator could make them.
const nginxMain = `
daemon off;
user root;
pid LOGS/nginx.pid;
error_log LOGS/main.log info;
events {}
http {
	access_log LOGS/access.log;
	client_body_temp_path LOGS/body;
	proxy_temp_path LOGS/proxy;
	fastcgi_temp_path LOGS/fastcgi;
	uwsgi_temp_path LOGS/uwsgi;
	scgi_temp_path LOGS/scgi;
	include LOGS/addrspec.conf;
}
`

func startNginx(t *testing.T, upstreams ...string) *proxyServer {
	p := newProxyServer(t, "nginx", "/usr/sbin/nginx")
	p.write("addrspec.conf", replaced(t, "../deploy/nginx.conf",
		"listen 443 ssl http2 default_server;", "listen "+p.tls+" ssl http2 default_server; listen "+p.plain+" default_server;",
		"listen 80 default_server;", "listen "+p.insecure+" default_server;",
		"/etc/ssl/addrspec.example.pem", p.logs+"/certificate.pem", "/etc/ssl/private/addrspec.example.key",
		p.logs+"/key.pem",
		"/var/log/nginx/", p.logs+"/", "127.0.0.1:8080", strings.Join(upstreams, " fail_timeout=4s; server ")))
	p.write("nginx.conf", strings.ReplaceAll(nginxMain, "LOGS", p.logs))
	p.run("-c", p.logs+"/nginx.conf", "-e", p.logs+"/start.log")
	return p
}

func startCaddy(t *testing.T, upstreams ...string) *proxyServer {
	p := newProxyServer(t, "caddy", "")
	port := func(address string) string { return address[strings.LastIndex(address, ":"):] }
	health := "# health_"
	if len(upstreams) > 1 {
		health = "health_"
	}
	p.write("Caddyfile", replaced(t, "../deploy/Caddyfile",
		"\tadmin off",
		"\tadmin off\n\thttps_port "+port(p.tls)[1:]+"\n\thttp_port "+port(p.insecure)[1:]+"\n\tdefault_bind 127.0.0.1",
		"https://addrspec.example {",
		"http://"+port(p.plain)+" {\n\timport addrspec\n}\nhttps://"+port(p.tls)+" {\n\ttls "+
			p.logs+"/certificate.pem "+p.logs+"/key.pem",
		"http://addrspec.example {", "http://"+port(p.insecure)+" {",
		"/var/log/caddy/", p.logs+"/", "127.0.0.1:8080", strings.Join(upstreams, " "), "# health_port", "#",
		"# health_", health))
	p.run("run", "--config", p.logs+"/Caddyfile", "--adapter", "caddyfile")
	return p
}

// newProxyServer returns a proxy that has free addresses and a certificate, which only its
// client accepts, and that is not yet started.
func newProxyServer(t *testing.T, name, file string) *proxyServer {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		file = path
	} else if _, err := os.Stat(file); err != nil {
		t.Skipf("skipped: %s is not installed; Debian's package %[1]s has it", name)
	}
	p := &proxyServer{T: t, program: file, logs: t.TempDir()}
	for _, at := range []*string{&p.tls, &p.plain, &p.insecure} {
		*at = must(origintest.FreeAddress())(t)
	}
	server := httptest.NewUnstartedServer(nil)
	server.EnableHTTP2 = true
	server.StartTLS()
	server.Close()
	p.client = server.Client()
	pair := server.TLS.Certificates[0]
	secret := must(x509.MarshalPKCS8PrivateKey(pair.PrivateKey))(t)
	p.write("certificate.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})))
	p.write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	return p
}

func awaitListener(t testing.TB, address, output string) {
	t.Helper()
	await(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, "see %s", output)
}

func (p *proxyServer) write(name, text string) {
	p.Helper()
	require.NoError(p, os.WriteFile(filepath.Join(p.logs, name), []byte(text), 0o600))
}

func (p *proxyServer) run(args ...string) {
	p.Helper()
	output := must(os.Create(filepath.Join(p.logs, "output.log")))(p)
	cmd := exec.Command(p.program, args...)
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+p.logs, "XDG_CONFIG_HOME="+p.logs)
	cmd.Stdout, cmd.Stderr = output, output
	require.NoError(p, cmd.Start())
	p.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		output.Close()
	})
	for _, at := range []string{p.tls, p.plain, p.insecure} {
		awaitListener(p, at, output.Name())
	}
}

// Two replicas are replaced one after the other, behind each proxy as deploy configures it, while clients
// go on. Each of 10,000 requests is served, and charged once.
func TestUpgradeWithoutInterruption(t *testing.T) {
	eachProxy(t, func(t *testing.T, kind proxyKind) {
		database := pgtest.NeedDatabase(t)
		resolver := contract.Serve(t)
		var at [2]string
		var replicas [2]*process
		launchAgain := func(n int) {
			replicas[n] = launchOn(t, database, nil, "--listen", at[n], "--dns", resolver, "--drain", "5s")
			replicas[n].awaitStatus(t, http.StatusOK, "/readyz", "", "")
		}
		for n := range at {
			at[n] = must(origintest.FreeAddress())(t)
			launchAgain(n)
		}
		key := replicas[0].newKey(t)
		p := kind.start(t, at[:]...)
		front := &instance{hostPort: p.plain}

		var replaced atomic.Bool
		var sent, points, slow atomic.Int64
		clients, failed := errgroup.WithContext(t.Context())
		for n := range 8 {
			method, path, body, cost := "GET", "/v1/email/jane@mail.example", "", int64(1)
			if n == 0 {
				method, path, body, cost = "POST", "/v1/emails", `{"emails":["a@mail.example","b@mail.example"]}`, 2
			}
			clients.Go(func() error {
				for sent.Add(1) <= 10_000 || !replaced.Load() {
					response, text, err := front.ask(method, path, key, body, nil)
					switch {
					case err != nil:
						return err
					case response.StatusCode == http.StatusOK && !strings.Contains(text, `"partial":true`):
						points.Add(cost)
					case response.StatusCode == http.StatusServiceUnavailable && (strings.Contains(text, "undecided") || strings.Contains(text, "The ledger")):
						slow.Add(cost) // a machine on which a commit takes seconds: it may or may not be charged
					default:
						return fmt.Errorf("request %d: %s %s", sent.Load(), response.Status, text)
					}
				}
				return nil
			})
		}
		for n := range replicas {
			require.NoError(t, replicas[n].Terminate(hung))
			launchAgain(n)
			await(t, func() bool { // the proxy has found that it is back
				_, page, err := replicas[n].ask(http.MethodGet, "/metrics", "", "", nil)
				return failed.Err() != nil || err == nil && regexp.MustCompile(`addrspec_requests_total{route="single",status="200"} [1-9]`).MatchString(page)
			})
		}
		replaced.Store(true)
		require.NoError(t, clients.Wait())
		require.NoError(t, replicas[0].Terminate(hung))
		require.NoError(t, replicas[1].Terminate(hung))
		require.InDelta(t, points.Load(), replicas[0].used(t), float64(slow.Load()))
	})
}
