package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
