package edge_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
)

var hookSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a hook's secret of 32 bytes here"))

// hookCall returns a signed call of a hook.
func hookCall(t *testing.T, hook, id, body string) request {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(hookSecret)
	require.NoError(t, err)
	now := time.Now()
	signature, err := signer.Sign(id, now, []byte(body))
	require.NoError(t, err)
	return request{Method: http.MethodPost, Target: "/v1/hooks/" + hook, Body: body,
		Header: []string{"Content-Type: application/json", "Webhook-Id: " + id, "Webhook-Timestamp: " + strconv.FormatInt(now.Unix(), 10),
			"Webhook-Signature: " + signature, "X-Request-Id: twin"}}
}

// startOriginWithHooks runs an origin with a hook in each format.
func startOriginWithHooks(t *testing.T) *origin {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte(hookSecret), 0o600))
	const hook = `{"name": %q, "format": %q, "account": "hooks@twin.test", "secret_file": "secret", "rate": 10000,
		"policy": {"block": {"reasons": ["disposable", "no_mx"]}, "review": {"reasons": ["role"]}}, "on_error": "deny"}`
	file := filepath.Join(dir, "hooks.json")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `{"hooks": [`+hook+`,`+hook+`,`+hook+`]}`, "signup", "generic", "auth", "supabase", "mailer", "supabase-mailer"), 0o600))
	o := startOrigin(t, "--dns", contract.Serve(t), "--hooks", file)
	ledgertest.NewAccountOn(t, o.ledger, "hooks@twin.test", book.Terms{Plan: "enterprise"})
	return o
}

// A hook has the same response through a worker as at the origin, and a call that was
// processed by one is not charged by the other.
func TestHooks(t *testing.T) {
	t.Parallel()
	o := startOriginWithHooks(t)
	const user = `{"metadata":{"uuid":"8b34dcdd-9df1-4c10-850a-%012d","name":"before-user-created"},"user":{"email":"jane@none.example"}}`
	tried := 0
	for at, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			w := runtime.start(t, "http://"+o.hostPort)
			tried++
			id := "msg_" + strconv.Itoa(at)
			unsigned := hookCall(t, "signup", id+"u", `{"email":"a@mail.example"}`)
			unsigned.Body = `{"email":"b@mail.example"}`
			mailer := request{Method: http.MethodPost, Target: "/v1/hooks/mailer", Body: `{"email":"jane..doe@mail.example"}`, // costs nothing
				Header: []string{"Content-Type: application/json", "Authorization: Bearer " + hookSecret, "X-Request-Id: twin"}}
			for n, r := range []request{
				hookCall(t, "signup", id+"a", `{"email":"info@mail.example"}`),
				hookCall(t, "signup", id+"b", `{"email":"jane@mailinator.com","language":"de"}`),
				hookCall(t, "signup", id+"c", `{"email":"jane..doe@mail.example"}`),
				hookCall(t, "auth", id+"d", fmt.Sprintf(user, at)),
				hookCall(t, "signup", id+"e", `{"email":`),
				hookCall(t, "signup", id+"f", ""),
				hookCall(t, "signup", id+"g", `{"email":"a@mail.example","x":"`+strings.Repeat("x", 200<<10)+`"}`),
				hookCall(t, "signup", id+"h", `{"email":"a@mail.example","x":"`+strings.Repeat("x", 300<<10)+`"}`),
				hookCall(t, "none", id+"i", `{"email":"a@mail.example"}`),
				{Method: http.MethodPost, Target: "/v1/hooks/signup", Header: []string{"X-Request-Id: twin"}, Body: `{}`},
				{Method: http.MethodGet, Target: "/v1/hooks/signup", Header: []string{"X-Request-Id: twin"}},
				{Method: http.MethodOptions, Target: "/v1/hooks/signup", Header: []string{"X-Request-Id: twin"}},
				unsigned,
				mailer,
			} {
				edge := w.send(t, r)
				used := o.used(t, "hooks@twin.test")
				direct := o.send(t, r)
				require.Equal(t, strings.Replace(direct.essence(), "Idempotency-Replayed: [true]", "Idempotency-Replayed: []", 1), edge.essence(), n)
				require.Equal(t, used, o.used(t, "hooks@twin.test"), n)
			}
		})
	}
	require.EqualValues(t, 4*tried, o.used(t, "hooks@twin.test"))
}
