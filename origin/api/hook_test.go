package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/signuphook"
)

const (
	hookSecret  = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	otherSecret = "whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="
	payer       = "payer@example.com"
)

// withHook gives the server a hook for each own, with the members of own, or one hook. The account payer of
// l pays for them.
func (f *fakes) withHook(t *testing.T, l *ledger.Ledger, own ...map[string]any) {
	directory := t.TempDir()
	if own == nil {
		own = append(own, nil)
	}
	hooks := make([]map[string]any, len(own))
	for n := range own {
		hooks[n] = map[string]any{"name": "signup", "format": "generic", "account": payer, "secret_file": "hook.secret",
			"policy": map[string]any{"block": map[string]any{"reasons": []string{"no_mx"}}}, "on_error": "allow",
			"timeout": "30s"} // a slow machine checks in time
		maps.Copy(hooks[n], own[n])
	}
	text, err := json.Marshal(map[string]any{"hooks": hooks})
	require.NoError(t, err)
	file := filepath.Join(directory, "hooks.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(directory, "hook.secret"), []byte("v1,"+hookSecret+"\n"), 0o600))
	set, err := signuphook.Load(t.Context(), f.Engine, file)
	require.NoError(t, err)
	f.Hooks = signuphook.NewRegistry(set, signuphook.NewPayers(l))
}

// newHooked returns a server with hooks on a real ledger, which has the account payer.
func newHooked(t *testing.T, terms book.Terms, own ...map[string]any) (f *fakes, l *ledger.Ledger, file string) {
	file = filepath.Join(t.TempDir(), "ledger.db")
	f, l = newFakes(t), ledgertest.Open(t, "sqlite:"+file)
	ledgertest.NewAccountOn(t, l, payer, terms)
	f.withHook(t, l, own...)
	f.Ledger = FromLedger(l)
	return f, l, file
}

var unlimited = book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Unlimited()}

// signedCall returns a call of a hook, which is signed with a secret.
func signedCall(t *testing.T, hook, secret, id, body string) *http.Request {
	signer, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	now := time.Now()
	signature, err := signer.Sign(id, now, []byte(body))
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodPost, "/v1/hooks/"+hook, strings.NewReader(body))
	for name, value := range map[string]string{"Content-Type": "application/json", "webhook-id": id,
		"webhook-timestamp": strconv.FormatInt(now.Unix(), 10), "webhook-signature": signature} {
		r.Header.Set(name, value)
	}
	return r
}

// signUp sends a signed call about a sign-up.
func (f *fakes) signUp(t *testing.T, id, body string) *httptest.ResponseRecorder {
	return f.send(signedCall(t, "signup", hookSecret, id, body))
}

// decide returns the decision of a hook about an address.
func (f *fakes) decide(t *testing.T, hook, id, email string) string {
	w := f.send(signedCall(t, hook, hookSecret, id, `{"email":"`+email+`"}`))
	assert.Equal(t, http.StatusOK, w.Code, w.Body)
	return w.Body.String()
}

// supabaseSends does what Supabase Auth does before it sends a mail, and reports whether it sends it. Each header of
// its setting has the last of its values. Only a response of 2xx within 3 s, whose first 32 bytes are an object
// with valid false, keeps it from sending.
func supabaseSends(t *testing.T, url, headers, email string) bool {
	var setting map[string][]string
	require.NoError(t, json.Unmarshal([]byte(headers), &setting))
	body, err := json.Marshal(map[string]string{"email": email})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	for name, values := range setting {
		r.Header.Set(name, values[len(values)-1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return true
	}
	defer response.Body.Close()
	var decided struct{ Valid *bool }
	err = json.NewDecoder(io.LimitReader(response.Body, 32)).Decode(&decided)
	return response.StatusCode/100 != 2 || err != nil || decided.Valid == nil || *decided.Valid
}

// Before a mail, Supabase Auth gets whether to send it, in time: block is no, review is yes, and on_error
// decides after the hook's timeout. Each mail costs a point, also a second one to the same address.
func TestSupabaseMailer(t *testing.T) {
	reasons := map[string]any{"block": map[string]any{"reasons": []string{"disposable", "no_mx"}}, "review": map[string]any{"reasons": []string{"role"}}}
	hook := func(name, onError, timeout string) map[string]any {
		return map[string]any{"name": name, "format": "supabase-mailer", "policy": reasons, "on_error": onError, "timeout": timeout}
	}
	f, l, _ := newHooked(t, unlimited, hook("signup", "deny", "2.5s"), hook("open", "allow", "100ms"), hook("closed", "deny", "100ms"))
	f.resolver.ask["silent.example"] = func(ctx context.Context) (bool, error) {
		<-ctx.Done()
		return false, ctx.Err()
	}
	f.resolver.ask["none.example"] = func(context.Context) (bool, error) { return false, nil }
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	const headers, wrong = `{"Authorization": ["Bearer ` + hookSecret + `"]}`, `{"Authorization": ["Bearer ` + otherSecret + `"]}`
	for _, c := range []struct {
		hook, headers, email string
		sends                bool
		counted              string // of the hook signup
		points               int64
	}{
		{"signup", headers, "jane@mail.example", true, "allow", 1},
		{"signup", headers, "jane@mail.example", true, "allow", 1},
		{"signup", headers, "info@mail.example", true, "allow", 1},
		{"signup", headers, "jane@mailinator.com", false, "deny", 1},
		{"signup", headers, "jane@none.example", false, "deny", 1},
		{"signup", headers, "jane..doe@mail.example", false, "deny", 0},
		{"open", headers, "jane@silent.example", true, "", 0},
		{"closed", headers, "jane@silent.example", false, "", 0},
		{"signup", wrong, "jane@mailinator.com", true, "unsigned", 0},
		{"signup", "{}", "jane@mailinator.com", true, "unsigned", 0},
	} {
		counted, used := f.decisions(c.counted), ledgertest.Used(t, l, payer)
		require.Equal(t, c.sends, supabaseSends(t, server.URL+"/v1/hooks/"+c.hook, c.headers, c.email), c)
		require.Equal(t, used+c.points, ledgertest.Used(t, l, payer), c)
		require.True(t, c.counted == "" || f.decisions(c.counted) == counted+1, c)
	}
}

// A call without the secret is refused before its body is read, with the challenge of the scheme that the
// hook takes; one with a wrong body as in the other formats.
func TestSupabaseMailerRefuses(t *testing.T) {
	f, l, _ := newHooked(t, unlimited, map[string]any{"format": "supabase-mailer", "timeout": "2.5s"})
	for _, c := range []struct {
		secret, body string
		status       int
		want         string
	}{
		{otherSecret, `{"email":"jane@mail.example"}`, 401, `"code":"INVALID_SIGNATURE"`},
		{otherSecret, strings.Repeat("x", hookBody.Limit+1), 401, `"code":"INVALID_SIGNATURE"`},
		{hookSecret, strings.Repeat("x", hookBody.Limit+1), 413, `"code":"BODY_TOO_LARGE"`},
		{hookSecret, "", 400, "no body"},
		{hookSecret, `{"email": 7}`, 400, `"code":"INVALID_REQUEST"`},
		{hookSecret, `{"user": {"email": "jane@mail.example"}}`, 400, `"code":"INVALID_REQUEST"`},
	} {
		body := strings.NewReader(c.body)
		r := httptest.NewRequest(http.MethodPost, "/v1/hooks/signup", body)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+c.secret)
		w := f.send(r)
		require.Equal(t, c.status, w.Code, w.Body)
		require.Contains(t, w.Body.String(), c.want)
		require.NotContains(t, w.Body.String(), "mail.example")
		if c.status == http.StatusUnauthorized {
			require.Equal(t, `Bearer realm="addrspec"`, w.Header().Get("Www-Authenticate"))
			require.Equal(t, len(c.body), body.Len(), "none of the body is read")
		}
	}
	require.Zero(t, ledgertest.Used(t, l, payer))
	require.NotContains(t, strings.Join(f.log.list(), ""), hookSecret[6:])
}

// If a hook's secret is refused after the request has begun and cannot be renewed,
// because the owner revoked the key meanwhile, nothing stays reserved.
func TestHookReleasesMemoryIfItsSecretCannotBeRenewed(t *testing.T) {
	l := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	_, account := ledgertest.NewAccountOn(t, l, payer, book.Terms{})
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
	f, _, _ := newHooked(t, book.Terms{})
	f.Ledger, f.ledger.panicAt = f.ledger, "begin"
	require.Equal(t, http.StatusInternalServerError, f.signUp(t, "msg_1", `{"email": "jane@example.org"}`).Code)
	require.Zero(t, f.MemoryInUse())
}

// Every call of a hook gets a decision or a problem by the steps of hook.go, and is counted.
func TestHookSteps(t *testing.T) {
	require.Equal(t, http.StatusNotFound, newFakes(t).signUp(t, "msg_1", "{}").Code, "without --hooks there is no such path")
	f, l, _ := newHooked(t, book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(2)})
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
	require.EqualValues(t, 2, ledgertest.Used(t, l, payer))
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

// Calls about one sign-up at the same time are charged once and get the same response.
func TestHookChargesOnce(t *testing.T) {
	f, l, _ := newHooked(t, unlimited, map[string]any{"rate": 1000})
	var calls sync.WaitGroup
	for range 32 {
		calls.Go(func() { assert.Contains(t, f.decide(t, "signup", "msg_same", "jane@mail.example"), `"allow"`) })
	}
	calls.Wait()
	require.EqualValues(t, 1, ledgertest.Used(t, l, payer))
}

// requireUnchecked requires that both hooks decide by on_error about a valid address, and deny one that is
// not valid all the same.
func (f *fakes) requireUnchecked(t *testing.T, id string) {
	t.Helper()
	for hook, want := range map[string]string{"open": `"flags":["unchecked"]`, "closed": `"reasons":["unchecked"]`} {
		require.Contains(t, f.decide(t, hook, id, "jane@mail.example"), want)
		require.Contains(t, f.decide(t, hook, id+"x", "jane..doe@mail.example"), `"reasons":["invalid"]`, hook)
	}
}

var bothChoices = []map[string]any{{"name": "open", "on_error": "allow"}, {"name": "closed", "on_error": "deny"}}

// If the account cannot pay, on_error decides, and the log says why without an address. A sign-up that was
// paid for has its response still, and a secret that a rotation ended is renewed. Package signuphook tests
// the other reasons why an account cannot pay.
func TestHookAccountCannotPay(t *testing.T) {
	f, l := newFakes(t), ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	f.withHook(t, l, bothChoices...)
	f.Ledger = FromLedger(l)
	f.requireUnchecked(t, "msg_none")
	_, account := ledgertest.NewAccountOn(t, l, payer, book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(2)})
	paid := f.decide(t, "closed", "msg_paid", "jane@mail.example")
	require.Contains(t, paid, `"decision":"allow"`)
	keys, err := l.ListKeys(t.Context(), account, book.KeyPage{Search: "hook closed"})
	require.NoError(t, err)
	require.Len(t, keys, 1)
	_, _, err = l.RotateKey(t.Context(), account, keys[0].ID, 0)
	require.NoError(t, err)
	require.Contains(t, f.decide(t, "closed", "msg_rotated", "jane@mail.example"), `"decision":"allow"`)
	f.requireUnchecked(t, "msg_poor")
	require.Equal(t, paid, f.decide(t, "closed", "msg_paid", "jane@mail.example"))
	log := strings.Join(f.log.list(), "")
	require.Contains(t, log, "there is no such account")
	require.Contains(t, log, "usage points are used up")
	require.NotContains(t, log, "@mail.example")
}

// An away ledger cannot reach its database.
type away struct{ Ledger }

func (away) Begin(context.Context, string, string) (Request, ledger.Decision, error) {
	return nil, ledger.Decision{}, store.ErrUnavailable
}

// While the database is away, hooks decide by on_error; afterwards they check again.
func TestHookLedgerDown(t *testing.T) {
	f, _, _ := newHooked(t, unlimited, bothChoices...)
	before := f.Ledger
	f.Ledger = away{before}
	f.requireUnchecked(t, "msg_down")
	f.Ledger = before
	require.Contains(t, f.decide(t, "closed", "msg_down", "jane@mail.example"), `"decision":"allow"`)
}

// An account's rate delays sign-ups that come at once, within the timeout of the hook.
func TestHookWaitsForRate(t *testing.T) {
	f, l, _ := newHooked(t, book.Terms{Rate: ledgertest.Limit(1)}, map[string]any{"on_error": "deny"})
	var calls sync.WaitGroup
	for n := range 3 {
		calls.Go(func() {
			assert.Contains(t, f.decide(t, "signup", fmt.Sprint("msg_", n), "jane@mail.example"), `"allow"`)
		})
	}
	calls.Wait()
	require.EqualValues(t, 3, ledgertest.Used(t, l, payer))
}

// A lookup has what is left of the hook's timeout, since the caller has waited for all of it.
func TestHookTimeoutIsOfAll(t *testing.T) {
	const timeout = "100ms"
	l := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	ledgertest.NewAccountOn(t, l, payer, book.Terms{})
	f := newFakes(t)
	f.withHook(t, l, map[string]any{"timeout": timeout})
	f.ledger.onClaim = func() {
		d, err := time.ParseDuration(timeout)
		require.NoError(t, err)
		<-time.After(d)
	}
	f.resolver.ask["late.example"] = func(ctx context.Context) (bool, error) {
		assert.Error(t, ctx.Err())
		return true, nil
	}
	f.decide(t, "signup", "msg_1", "jane@late.example")
}

// What is not a well-formed, signed call costs nothing and is not looked at. No address, no ID and no secret
// is in the log, in the metrics or in the database, also of a call that is charged.
func TestHookRefuses(t *testing.T) {
	f, l, file := newHooked(t, unlimited, map[string]any{"policy": map[string]any{"block": map[string]any{"reasons": []string{"typo"}}}})
	const body = `{"email":"canary-7f3a@mail.example"}`
	for _, c := range []struct {
		hook, secret, body string
		header, value      string
		status             int
	}{
		{"other", hookSecret, body, "", "", 404},
		{"../edge/admit", hookSecret, body, "", "", 404},
		{"sign%75p", hookSecret, body, "", "", 404},
		{"signup/", hookSecret, body, "", "", 404},
		{"Signup", hookSecret, body, "", "", 404},
		{"signup", otherSecret, body, "", "", 401},
		{"signup", otherSecret, body, "X-Api-Key", goodKey, 401},
		{"signup", hookSecret, body, "Content-Type", "text/plain", 415},
		{"signup", hookSecret, body, "Content-Encoding", "gzip", 415},
		{"signup", hookSecret, `{"email":"canary-7f3a\u0000@mail.example"}`, "", "", 200},
	} {
		r := signedCall(t, c.hook, c.secret, "msg_canary", c.body)
		r.Header.Set(c.header, c.value)
		w := f.send(r)
		require.Equal(t, c.status, w.Code, "%v: %s", c, w.Body)
		require.NotContains(t, w.Body.String(), "canary-7f3a", c)
	}
	for _, method := range []string{"GET", "OPTIONS", "DELETE"} {
		w := f.send(httptest.NewRequest(method, "/v1/hooks/signup", nil))
		require.Equal(t, http.StatusMethodNotAllowed, w.Code)
		require.Equal(t, "POST", w.Header().Get("Allow"))
	}
	require.Zero(t, ledgertest.Used(t, l, payer))
	require.Contains(t, f.decide(t, "signup", "msg_canary", "canary-7f3a@gmial.com"), `"suggestion":"gmail.com"`)
	require.EqualValues(t, 1, ledgertest.Used(t, l, payer))

	recorded := string(f.metrics(nil).Body) + strings.Join(f.log.list(), "")
	require.Contains(t, recorded, `addrspec_hook_decisions_total{decision="unsigned",hook="signup"}`)
	require.NotContains(t, recorded, `hook="other"`)
	files, err := filepath.Glob(file + "*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		recorded += string(text)
	}
	for _, secret := range []string{"canary-7f3a", "msg_canary", "gmail.com", "gmial.com", hookSecret[6:], otherSecret[6:]} {
		require.NotContains(t, recorded, secret)
	}
}

// A hook's rate counts calls with a valid signature only, so that a flood of others does not keep sign-ups
// from being decided.
func TestHookRate(t *testing.T) {
	f, l, _ := newHooked(t, unlimited, map[string]any{"rate": 1})
	status := func(secret string, n int) int {
		w := f.send(signedCall(t, "signup", secret, fmt.Sprint("msg_", n), `{"email":"jane@mail.example"}`))
		require.Equal(t, w.Code == http.StatusTooManyRequests, w.Header().Get("Retry-After") == "1")
		return w.Code
	}
	for n := range 20 {
		require.Equal(t, http.StatusUnauthorized, status(otherSecret, n))
	}
	served, last := 0, status(hookSecret, 0)
	for ; last == http.StatusOK; last = status(hookSecret, served) {
		served++
		require.Less(t, served, 1000)
	}
	require.Equal(t, http.StatusTooManyRequests, last)
	require.GreaterOrEqual(t, served, 2, "twice the rate at once")
	require.EqualValues(t, served, ledgertest.Used(t, l, payer))
}

// Bodies that do not end hold a share of the memory only: other requests are served, and so are other hooks.
func TestHookSlowBodies(t *testing.T) {
	f, _, _ := newHooked(t, unlimited, nil, map[string]any{"name": "other"})
	f.memory = newMemory(MinMemory)
	address := f.listen(t, 100)
	var conns []*origintest.TestConn
	for range 60 {
		conns = append(conns, dial(t, address).Send("POST /v1/hooks/signup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
			"Content-Length: 262144\r\nwebhook-id: msg_1\r\nwebhook-signature: v1,x\r\nwebhook-timestamp: "+
			fmt.Sprint(time.Now().Unix())+"\r\n\r\n"+strings.Repeat(" ", 200<<10)))
	}
	require.Eventually(t, func() bool { return f.MemoryInUse() > 1<<20 }, hung, time.Millisecond)
	require.LessOrEqual(t, f.MemoryInUse(), MinMemory/4)
	response, body := dial(t, address).Send(asks("jane@mail.example")).Response()
	require.Equal(t, http.StatusOK, response.StatusCode, body)
	require.Contains(t, f.decide(t, "other", "msg_1", "jane@mail.example"), `"decision":"allow"`)
	for _, conn := range conns {
		conn.Close()
	}
	require.Eventually(t, func() bool { return f.MemoryInUse() == 0 }, hung, time.Millisecond)
}
