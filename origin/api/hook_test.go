package api

import (
	"context"
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
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/signuphook"
)

const hookSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// withHook gives the server a hook that the account of l pays for.
func (f *fakes) withHook(t *testing.T, l *ledger.Ledger) {
	directory := t.TempDir()
	file := filepath.Join(directory, "hooks.json")
	text := `{"hooks": [{"name": "signup", "format": "generic", "account": "payer@example.com", "secret_file": "hook.secret", "policy": {"block": {"reasons": ["no_mx"]}}, "on_error": "allow"}]}`
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
	_, account := ledgertest.NewAccountOn(t, l, "payer@example.com", book.Terms{})
	f := newFakes(t)
	f.withHook(t, l)
	f.ledger.claim = decided(ledger.UnknownKey)
	f.ledger.onClaim = func() {
		keys, err := l.ListKeys(t.Context(), account, book.KeyPage{})
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
	ledgertest.NewAccountOn(t, l, "payer@example.com", book.Terms{})
	f := newFakes(t)
	f.withHook(t, l)
	f.ledger.panicAt = "begin"
	require.Equal(t, http.StatusInternalServerError, f.signUp(t, "msg_1", `{"email": "jane@example.org"}`).Code)
	require.Zero(t, f.MemoryInUse())
}

// Every call of a hook gets a decision or a problem by the steps of hook.go, and is counted.
func TestHookSteps(t *testing.T) {
	l := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	ledgertest.NewAccountOn(t, l, "payer@example.com", book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(2)})
	f := newFakes(t)
	require.Equal(t, http.StatusNotFound, f.signUp(t, "msg_1", "{}").Code, "without --hooks there is no such path")
	f.withHook(t, l)
	f.Ledger = FromLedger(l)
	f.resolver.ask["down.example"] = func(context.Context) (bool, error) { return false, &mx.Error{Kind: mx.Timeout} }
	const allow, deny = `{"decision":"allow"`, `{"decision":"deny"`
	for _, c := range []struct {
		id, body string
		status   int
		want     string
		counted  string
	}{
		{"msg_1", `{"email": "jane@example.org"}`, 200, allow, "allow"},
		{"msg_1", `{"email": "jane@example.org"}`, 200, allow, "replayed"},
		{"msg_1", `{"email": "joe@example.org"}`, 422, `"code":"IDEMPOTENCY_MISMATCH"`, "refused"},
		{"msg_2", `{"email": "jane..doe@example.org"}`, 200, deny, "deny"},
		{"msg_3", `{"email": "jane@down.example"}`, 200, allow, "allow_unchecked"},
		{"msg_4", `{"email": "joe@example.org"}`, 200, allow, "allow"},
		{"msg_5", `{"email": "jim@example.org"}`, 200, allow, "allow_unchecked"}, // the points are used up
		{"msg_6", ``, 400, "no body", "refused"},
		{"msg_7", `{"email": 7}`, 400, `"code":"INVALID_REQUEST"`, "refused"},
		{"msg_8", `{"email": "` + strings.Repeat("x", hookBody.Limit) + `"}`, 413, "send less about the user", "refused"},
	} {
		before := f.decisions(c.counted)
		w := f.signUp(t, c.id, c.body)
		require.Equal(t, c.status, w.Code, "%s: %s", c.id, w.Body)
		require.Contains(t, w.Body.String(), c.want, c.id)
		require.Empty(t, w.Header().Get("X-Usage-Current"), "the usage is not the caller's business")
		require.Equal(t, before+1, f.decisions(c.counted), "%s is counted as %s", c.id, c.counted)
	}
	require.EqualValues(t, 2, ledgertest.Used(t, l, "payer@example.com"))
	require.Zero(t, f.MemoryInUse())

	r := httptest.NewRequest(http.MethodPost, "/v1/hooks/signup", strings.NewReader("{}"))
	require.Equal(t, http.StatusUnauthorized, f.send(r).Code, "without a signature")
	require.Equal(t, http.StatusNotFound, f.send(httptest.NewRequest(http.MethodPost, "/v1/hooks/other", nil)).Code)
}

// decisions returns how many calls of the hook are counted as a decision.
func (f *fakes) decisions(decision string) (n int) {
	label := `addrspec_hook_decisions_total{decision="` + decision + `",hook="signup"} `
	for line := range strings.Lines(string(f.metrics(nil).Body)) {
		if count, found := strings.CutPrefix(line, label); found {
			n, _ = strconv.Atoi(strings.TrimSpace(count))
		}
	}
	return n
}
