package api

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/signuphook"
)

const hookSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// withHook gives the server a hook that the account of l pays for.
func (f *fakes) withHook(t *testing.T, l *ledger.Ledger) {
	directory := t.TempDir()
	file := filepath.Join(directory, "hooks.json")
	text := `{"hooks": [{"name": "signup", "format": "generic", "account": "payer@example.com", "secret_file": "hook.secret", "policy": {}, "on_error": "allow"}]}`
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(directory, "hook.secret"), []byte("v1,"+hookSecret+"\n"), 0o600))
	set, err := signuphook.Load(t.Context(), f.Engine, file)
	require.NoError(t, err)
	f.Hooks = signuphook.NewRegistry(set, signuphook.NewPayers(l))
}

// signUp sends a signed call about a sign-up.
func (f *fakes) signUp(t *testing.T, id, body string) *httptest.ResponseRecorder {
	signer, err := standardwebhooks.NewWebhook(hookSecret)
	require.NoError(t, err)
	now := time.Now()
	signature, err := signer.Sign(id, now, []byte(body))
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodPost, "/v1/hooks/signup", strings.NewReader(body))
	for name, value := range map[string]string{"Content-Type": "application/json", "webhook-id": id,
		"webhook-timestamp": strconv.FormatInt(now.Unix(), 10), "webhook-signature": signature} {
		r.Header.Set(name, value)
	}
	return f.send(r)
}

// If a hook's secret is refused after the request has begun and cannot be renewed,
// because the owner revoked the key meanwhile, nothing stays reserved.
func TestHookReleasesMemoryIfItsSecretCannotBeRenewed(t *testing.T) {
	l := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	_, account := ledgertest.NewAccountOn(t, l, "payer@example.com", ledger.Terms{})
	f := newFakes(t)
	f.withHook(t, l)
	f.ledger.claim = decided(ledger.UnknownKey)
	f.ledger.onClaim = func() {
		keys, err := l.ListKeys(t.Context(), account, ledger.KeyPage{})
		require.NoError(t, err)
		for _, k := range keys {
			require.NoError(t, l.RevokeKey(t.Context(), account, k.ID))
		}
	}
	resp := f.signUp(t, "msg_1", `{"email": "jane@example.org"}`)
	require.Equal(t, http.StatusOK, resp.Code, "by on_error: %s", resp.Body)
	require.Equal(t, []string{"begin", "claim", "end"}, f.trace.list())
	require.Zero(t, f.MemoryInUse())
}

// A panic before the pipeline releases the memory of the hook's body.
func TestHookReleasesMemoryAfterPanic(t *testing.T) {
	l := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	ledgertest.NewAccountOn(t, l, "payer@example.com", ledger.Terms{})
	f := newFakes(t)
	f.withHook(t, l)
	f.ledger.panicAt = "begin"
	require.Equal(t, http.StatusInternalServerError, f.signUp(t, "msg_1", `{"email": "jane@example.org"}`).Code)
	require.Zero(t, f.MemoryInUse())
}
