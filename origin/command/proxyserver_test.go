package command

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// A proxyServer is a real nginx or Caddy with the configuration in deploy.
type proxyServer struct {
	tls      string // the address that deploy has as port 443
	plain    string // the same without TLS, for the tests that send raw requests
	insecure string // the address that deploy has as port 80
	logs     string // the directory of every file that it writes, its output included
	roots    *x509.CertPool
}

// A proxyKind is a proxy for which deploy has a configuration.
type proxyKind struct {
	name         string
	start        func(t *testing.T, upstream string) *proxyServer
	waitsForBody bool     // it passes no response on before the whole body has come
	refuses      []string // the contract's cases that it responds itself, with 400 for HTTP that is not well-formed
}

var proxyKinds = []proxyKind{
	{"nginx", startNginx, false, []string{"single: malformed: a percent sign without two hexadecimal digits", "single: malformed: NUL",
		"key: Authorization twice", "key: Authorization twice beside X-API-Key, which wins"}},
	{"caddy", startCaddy, true, []string{"single: malformed: a percent sign without two hexadecimal digits"}},
}

func newProxyServer(t *testing.T) *proxyServer {
	p := &proxyServer{logs: t.TempDir()}
	for _, at := range []*string{&p.tls, &p.plain, &p.insecure} {
		address, err := origintest.FreeAddress()
		require.NoError(t, err)
		*at = address
	}
	return p
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

func startNginx(t *testing.T, upstream string) *proxyServer {
	program := proxyProgram(t, "nginx", "/usr/sbin/nginx")
	p := newProxyServer(t)
	certificate, key := p.certificate(t)
	p.write(t, "addrspec.conf", replaced(t, "../deploy/nginx.conf",
		"listen 443 ssl http2 default_server;", "listen "+p.tls+" ssl http2 default_server; listen "+p.plain+" default_server;",
		"listen 80 default_server;", "listen "+p.insecure+" default_server;",
		"/etc/ssl/addrspec.example.pem", certificate, "/etc/ssl/private/addrspec.example.key", key,
		"/var/log/nginx/", p.logs+"/", "127.0.0.1:8080", upstream))
	p.write(t, "nginx.conf", strings.ReplaceAll(nginxMain, "LOGS", p.logs))
	p.run(t, exec.Command(program, "-c", filepath.Join(p.logs, "nginx.conf"), "-e", filepath.Join(p.logs, "start.log")))
	return p
}

func startCaddy(t *testing.T, upstream string) *proxyServer {
	program := proxyProgram(t, "caddy", "")
	p := newProxyServer(t)
	certificate, key := p.certificate(t)
	p.write(t, "Caddyfile", replaced(t, "../deploy/Caddyfile",
		"\tadmin off", "\tadmin off\n\thttps_port "+port(p.tls)+"\n\thttp_port "+port(p.insecure)+"\n\tdefault_bind 127.0.0.1",
		"https://addrspec.example {", "http://:"+port(p.plain)+" {\n\timport addrspec\n}\nhttps://:"+port(p.tls)+" {\n\ttls "+certificate+" "+key,
		"http://addrspec.example {", "http://:"+port(p.insecure)+" {",
		"/var/log/caddy/", p.logs+"/", "127.0.0.1:8080", upstream))
	cmd := exec.Command(program, "run", "--config", filepath.Join(p.logs, "Caddyfile"), "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+p.logs, "XDG_CONFIG_HOME="+p.logs)
	p.run(t, cmd)
	return p
}

func proxyProgram(t *testing.T, name, file string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if _, err := os.Stat(file); err != nil {
		t.Skipf("skipped: %s is not installed; Debian's package %[1]s has it", name)
	}
	return file
}

// replaced returns a file of deploy with the values that a test needs instead of
// its own, each of which it must have.
func replaced(t *testing.T, file string, pairs ...string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for n := 0; n < len(pairs); n += 2 {
		require.Contains(t, string(text), pairs[n], file)
	}
	return strings.NewReplacer(pairs...).Replace(string(text))
}

func (p *proxyServer) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(p.logs, name), []byte(text), 0o600))
}

// run runs the proxy until the test ends, with its output in a file of its logs.
func (p *proxyServer) run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	output, err := os.Create(filepath.Join(p.logs, "output.log"))
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = output, output
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		output.Close()
	})
	for _, at := range []string{p.tls, p.plain, p.insecure} {
		require.Eventually(t, func() bool { return listens(at) }, hung, 20*time.Millisecond, "see %s", output.Name())
	}
}

func listens(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// certificate makes a certificate for addrspec.example, which only this test's
// clients accept.
func (p *proxyServer) certificate(t *testing.T) (certificate, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"addrspec.example"}}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	p.roots = x509.NewCertPool()
	p.roots.AppendCertsFromPEM(public)
	p.write(t, "certificate.pem", string(public))
	p.write(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	return filepath.Join(p.logs, "certificate.pem"), filepath.Join(p.logs, "key.pem")
}
