package command

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
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
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/webhook"
)

// The receivers of the documentation accept a signed message and refuse all
// others.
func TestExamplesVerifyWebhooks(t *testing.T) {
	for _, e := range examples(t, "verify-webhook") {
		t.Run(e.File, func(t *testing.T) {
			t.Parallel()
			target := runReceiver(t, e, webhookSecret)
			body := `{"type":"usage.80","data":{"text":"é"}}`
			now := time.Now()
			signature := sign(webhookSecret, "msg_1", now, body)
			require.Equal(t, http.StatusNoContent, deliver(t, target, "msg_1", now, signature, body))
			require.Equal(t, http.StatusNoContent, deliver(t, target, "msg_1", now, "v1,AAAA "+signature, body), "two secrets")
			refused := map[string]int{
				"another body":   deliver(t, target, "msg_1", now, signature, body+" "),
				"another id":     deliver(t, target, "msg_2", now, signature, body),
				"another time":   deliver(t, target, "msg_1", now.Add(time.Second), signature, body),
				"another secret": deliver(t, target, "msg_1", now, sign("whsec_"+base64.StdEncoding.EncodeToString([]byte("another secret of 24 bytes")), "msg_1", now, body), body),
				"no signature":   deliver(t, target, "msg_1", now, "", body),
				"too old":        deliver(t, target, "msg_1", now.Add(-time.Hour), sign(webhookSecret, "msg_1", now.Add(-time.Hour), body), body),
			}
			for name, status := range refused {
				require.Equal(t, http.StatusUnauthorized, status, name)
			}
		})
	}
}

// The receivers accept what the service itself sends, also with the secret from
// before a rotation.
func TestExamplesReceiveOurWebhooks(t *testing.T) {
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
			_, err = sender.Rotate(t.Context(), account)
			require.NoError(t, err)

			receiver, err := url.Parse(runReceiver(t, e, secret))
			require.NoError(t, err)
			proxy.Config.Handler = httputil.NewSingleHostReverseProxy(receiver)
			delivery, err := sender.Test(t.Context(), account)
			require.NoError(t, err)
			require.True(t, delivery.Delivered, delivery.Status)
		})
	}
}

// webhookSecret is the secret of the receivers.
var webhookSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret of 32 bytes for a test!"))

// sign signs a message as the Standard Webhooks specification requires.
func sign(secret, id string, at time.Time, body string) string {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", id, at.Unix(), body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
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

// deliver sends a message and returns the status of the response.
func deliver(t *testing.T, target, id string, at time.Time, signature, body string) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, target, bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	request.Header.Set("webhook-id", id)
	request.Header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	request.Header.Set("webhook-signature", signature)
	response, err := httpClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	return response.StatusCode
}
