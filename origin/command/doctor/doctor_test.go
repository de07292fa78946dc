package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/wasm/host"
)

func find(t *testing.T, c Check) Finding {
	t.Helper()
	findings := Run(t.Context(), 10*time.Second, []Check{c})
	require.Len(t, findings, 1)
	return findings[0]
}

func requireFinding(t *testing.T, f Finding, status Status, words ...string) {
	t.Helper()
	require.Equal(t, status, f.Status, f.Detail)
	for _, w := range words {
		require.Contains(t, f.Detail, w)
	}
}

func TestRun(t *testing.T) {
	say := func(name, detail string, err error) Check {
		return Check{name, func(context.Context) (string, error) { return detail, err }}
	}
	findings := Run(t.Context(), 100*time.Millisecond, []Check{
		say("fine", "as it should be", nil),
		say("absent", "", nil),
		say("soon", "", Advise("renew it")),
		say("mixed", "", errors.Join(Advise("renew it"), errors.New("it is broken"))),
		say("twice", "", errors.Join(Advise("this"), Advise("and that"))),
		{"hangs", func(context.Context) (string, error) { select {} }},
	})
	var got []Status
	for _, f := range findings {
		got = append(got, f.Status)
	}
	require.Equal(t, []Status{OK, Advised, Wrong, Advised, Wrong}, got)
	require.Contains(t, findings[4].Detail, "no response within 100ms")
}

func TestDisk(t *testing.T) {
	requireFinding(t, find(t, Disk(filepath.Join(t.TempDir(), "not", "yet"))), OK, "left")
	const plenty = 1 << 40
	require.ErrorContains(t, space("/x", 0, plenty, plenty), "/x has 0 B left: free space there, or")
	require.False(t, errors.As(space("/x", 100<<20, plenty, plenty), new(Advice)))
	require.ErrorContains(t, space("/x", plenty, 5, 1000), "5 inodes left")
	require.NoError(t, space("/x", plenty, 0, 0))
	require.ErrorAs(t, space("/x", 700<<20, plenty, plenty), new(Advice))
}

func TestFiles(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "a.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	requireFinding(t, find(t, Files([]string{path, path + "-wal"}, []string{path})), OK)
	for mode, words := range map[os.FileMode]string{0o640: "can read it: chmod 0600 " + path, 0o602: "can change it: chmod 0600 " + path} {
		require.NoError(t, os.Chmod(path, mode))
		requireFinding(t, find(t, Files([]string{path}, nil)), Wrong, words)
	}
	require.NoError(t, os.Chmod(path, 0o644))
	requireFinding(t, find(t, Files(nil, []string{path})), OK)
	require.NoError(t, os.Chmod(directory, 0o777))
	requireFinding(t, find(t, Files(nil, []string{path})), Wrong, "replace the files in it: chmod go-w "+directory)
}

func TestLimits(t *testing.T) {
	requireFinding(t, find(t, Limits(10, 10, 300)), OK, "10 connections")
	requireFinding(t, find(t, Limits(1<<40, 1, 1<<40)), Wrong, "a process may open ", "LimitNOFILE=", "--max-connections")
}

func TestClock(t *testing.T) {
	at := func(d time.Duration) func(context.Context) (time.Time, error) {
		return func(context.Context) (time.Time, error) { return time.Now().Add(d), nil }
	}
	require.NotEqual(t, Wrong, find(t, Clock(time.Time{}, at(0))).Status)
	requireFinding(t, find(t, Clock(time.Time{}, at(time.Hour))), Wrong, "1h0m0s ahead of this machine's")
	requireFinding(t, find(t, Clock(time.Time{}, at(-5*time.Second))), Advised, "behind this machine's")
	requireFinding(t, find(t, Clock(time.Now().Add(time.Hour), at(0))), Wrong, "before this program was built")
}

// hung is longer than a resolver takes that responds, however slow the machine.
const hung = 2 * time.Minute

// A resolver that is sound, silent, without the Internet, or that makes up records.
func TestResolver(t *testing.T) {
	const zone = "$ORIGIN test.\nyes MX 10 mx.yes\nnull MX 0 .\n"
	known := Domains{With: []string{"gone.test", "yes.test"}, Without: "null.test"}
	sound := mxtest.New(t, zone)
	requireFinding(t, find(t, Resolver([]string{sound.Addr}, hung, known)), OK, sound.Addr, "one of gone.test, yes.test has MX")

	silent := mxtest.New(t, zone)
	silent.RespondAll(mxtest.Silent)
	six := slices.Repeat([]string{silent.Addr}, 6)
	f := find(t, Resolver(append(six, sound.Addr), 2*time.Second, known)) // asked at once
	requireFinding(t, f, Wrong, silent.Addr+" did not reply in time")
	require.NotContains(t, f.Detail, sound.Addr)

	empty := mxtest.New(t, "$ORIGIN test.\n")
	requireFinding(t, find(t, Resolver([]string{empty.Addr}, hung, known)), Wrong, empty.Addr, "asked for gone.test, yes.test: ", "denies the MX records of every domain of --dns-with-mx")
	requireFinding(t, find(t, Resolver([]string{empty.Addr}, hung, Domains{Without: "null.test"})), OK, "null.test has none") // --dns-with-mx none

	liar := mxtest.New(t, zone+"*.invalid. MX 10 mx.yes\n")
	requireFinding(t, find(t, Resolver([]string{liar.Addr}, hung, known)), Wrong, "below .invalid", "makes up records")
	requireFinding(t, find(t, Resolver([]string{sound.Addr}, hung, Domains{With: []string{"yes.test"}, Without: "yes.test"})), Wrong, "--dns-without-mx")
}

// site is a service that responds by path; other paths are 404.
type site map[string]func(http.ResponseWriter)

func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if respond := s[r.URL.Path]; respond != nil {
		respond(w)
		return
	}
	w.WriteHeader(http.StatusNotFound)
}

func status(code int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(code)
		w.Write([]byte(body))
	}
}

func start(t *testing.T, s site) *url.URL {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	require.NoError(t, err)
	return at
}

func TestService(t *testing.T) {
	require.Empty(t, Run(t.Context(), time.Second, []Check{Service(nil)}))
	gone := start(t, site{})
	gone.Host = "127.0.0.1:1"
	requireFinding(t, find(t, Service(gone)), Wrong, "start the service, or correct the URL")
	late := func(w http.ResponseWriter) {
		w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
	}
	for words, s := range map[string]site{
		"/healthz is 404":          {},
		"the ledger cannot commit": {"/healthz": status(200, ""), "/readyz": status(503, "")},
		"the service's clock":      {"/healthz": late},
	} {
		requireFinding(t, find(t, Service(start(t, s))), Wrong, words)
	}
}

// Metrics and keys on the network: the same server by another name.
func TestServiceOnTheNetwork(t *testing.T) {
	at := start(t, site{"/healthz": status(200, ""), "/metrics": status(200, "addrspec_up 1")})
	requireFinding(t, find(t, Service(at)), OK)
	look := func(at *url.URL) Finding {
		return find(t, Check{"", func(ctx context.Context) (string, error) { return "", exposed(ctx, at) }})
	}
	requireFinding(t, look(at), Advised, "is not https", "anybody can read")
	hidden := look(start(t, site{}))
	requireFinding(t, hidden, Advised, "is not https")
	require.NotContains(t, hidden.Detail, "metrics")
}

func TestEdge(t *testing.T) {
	ours := func() (host.Info, error) { return host.Info{Engine: "1", Lists: "2", Model: "3"}, nil }
	for _, c := range []struct {
		versions string
		usage    int
		status   Status
		words    string
	}{
		{`{"engine":"1","lists":"2","model":"3"}`, 401, OK, "lists 2"},
		{`{"engine":"1","lists":"1","model":"3"}`, 401, Advised, "their responses may differ"},
		{`{"engine":"1","lists":"2","model":"3"}`, 502, Wrong, "502 Bad Gateway and not 401"},
		{"<html>", 401, Wrong, "without versions"},
	} {
		at := start(t, site{"/versions": status(200, c.versions), "/v1/usage": status(c.usage, "{}")})
		requireFinding(t, find(t, Edge(at, ours)), c.status, c.words)
	}
}

func TestOrigin(t *testing.T) {
	const secret = "a secret of the tests"
	for body, want := range map[string]Status{`{"code":"MISSING_KEY"}`: OK, `{"code":"INVALID_EDGE_SECRET"}`: Wrong, `a proxy asks for a password`: Wrong} {
		f := find(t, Origin(start(t, site{"/v1/edge/admit": status(401, body)}), secret))
		require.Equal(t, want, f.Status)
		require.NotContains(t, f.Detail, secret)
	}
	requireFinding(t, find(t, Origin(start(t, site{}), secret)), Wrong, "start it with --edge-secret")
}

// A certificate that is valid, about to expire, expired, of another name, or of an
// authority that nobody trusts.
func TestCertificates(t *testing.T) {
	for name, c := range map[string]struct {
		until  time.Duration
		host   string
		trust  bool
		status Status
		words  string
	}{
		"valid":      {90 * 24 * time.Hour, "127.0.0.1", true, OK, "its certificate valid until"},
		"soon":       {5 * 24 * time.Hour, "127.0.0.1", true, Advised, "the certificate expires in 4 days"},
		"expired":    {-time.Hour, "127.0.0.1", true, Wrong, "renew the certificate"},
		"other name": {90 * 24 * time.Hour, "192.0.2.1", true, Wrong, "get a certificate for this name"},
		"untrusted":  {90 * 24 * time.Hour, "127.0.0.1", false, Wrong, "the whole chain"},
	} {
		t.Run(name, func(t *testing.T) {
			at := startTLS(t, c.until, c.host, c.trust)
			requireFinding(t, find(t, Service(at)), c.status, c.words)
		})
	}
}

// startTLS starts a service with a certificate for host that ends after a time.
func startTLS(t *testing.T, until time.Duration, host string, trust bool) *url.URL {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(until),
		IPAddresses: []net.IP{net.ParseIP(host)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	roots = x509.NewCertPool()
	if trust {
		roots.AddCert(parsed)
	}
	t.Cleanup(func() { roots = nil })
	server := httptest.NewUnstartedServer(site{"/healthz": status(200, "")})
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.Config.ErrorLog = nil
	server.StartTLS()
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	require.NoError(t, err)
	return at
}
