package command

import (
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/webhook"
)

// The receivers of the documentation accept what the service itself sends, also with the secret
// from before a rotation, and refuse all others.
func TestExamplesVerifyWebhooks(t *testing.T) {
	t.Parallel()
	l := ledgertest.Open(t, origintest.NewDatabase(t))
	for _, e := range examples(t, "verify-webhook") {
		t.Run(e.File, func(t *testing.T) {
			proxy := httptest.NewUnstartedServer(nil)
			proxy.StartTLS()
			defer proxy.Close()
			roots := x509.NewCertPool()
			roots.AddCert(proxy.Certificate())
			local := &webhook.Local{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: roots}
			sender := webhook.New(l.Store(), webhook.Options{Local: local})
			_, account := ledgertest.NewAccountOn(t, l, e.File+"@example.org", book.Terms{})
			secret, err := sender.Set(t.Context(), account, proxy.URL+"/hook")
			require.NoError(t, err)
			newer, err := sender.Rotate(t.Context(), account)
			require.NoError(t, err)
			target := runReceiver(t, e, secret)
			receiver, err := url.Parse(target)
			require.NoError(t, err)
			proxy.Config.Handler = httputil.NewSingleHostReverseProxy(receiver)
			delivery, err := sender.Test(t.Context(), account)
			require.NoError(t, err)
			require.True(t, delivery.Delivered, delivery.Status)

			const body = `{"type":"usage.80","data":{"text":"é"}}`
			now := time.Now()
			hourAgo := now.Add(-time.Hour)
			for name, c := range map[string]struct {
				header http.Header
				body   string
				want   int
			}{
				"good":           {signed(t, secret, "msg_1", now, body), body, http.StatusNoContent},
				"another body":   {signed(t, secret, "msg_1", now, body), body + " ", http.StatusUnauthorized},
				"another secret": {signed(t, newer, "msg_1", now, body), body, http.StatusUnauthorized},
				"too old":        {signed(t, secret, "msg_1", hourAgo, body), body, http.StatusUnauthorized},
				"another id":     {setHeader(signed(t, secret, "msg_1", now, body), "Webhook-Id", "msg_2"), body, http.StatusUnauthorized},
				"another time": {setHeader(signed(t, secret, "msg_1", now, body), "Webhook-Timestamp", strconv.FormatInt(now.Unix()+1, 10)),
					body, http.StatusUnauthorized},
				"no signature": {setHeader(signed(t, secret, "msg_1", now, body), "Webhook-Signature", ""), body, http.StatusUnauthorized},
			} {
				response, _ := post(t, target, c.header, c.body)
				require.Equal(t, c.want, response.StatusCode, name)
			}
		})
	}
}

// withHeader replaces a header.
func setHeader(h http.Header, name, value string) http.Header {
	h.Set(name, value)
	return h
}

// runReceiver runs an example that receives messages, and returns its URL.
func runReceiver(t *testing.T, e docs.Example, secret string) (target string) {
	t.Helper()
	address, err := origintest.FreeAddress()
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	cmd := example(t, e, "", "")
	if filepath.Base(e.File) == "main.go" { // "go run" does not pass on the end of the test
		build := exec.Command("go", "build", "-o", "receiver", "main.go")
		build.Dir = cmd.Dir
		out, err := build.CombinedOutput()
		require.NoError(t, err, "%s", out)
		program := exec.Command(filepath.Join(cmd.Dir, "receiver"))
		program.Env = cmd.Env
		cmd = program
	}
	cmd.Env = append(cmd.Env, "PORT="+port, "WEBHOOK_SECRET="+secret)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, hung, 20*time.Millisecond)
	return "http://" + address + "/"
}
