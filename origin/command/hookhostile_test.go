package command

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
)

const (
	allowedUnchecked = `{"decision":"allow","reasons":[],"flags":["unchecked"],"message":null,"suggestion":null}`
	deniedUnchecked  = `{"decision":"deny","reasons":["unchecked"],"flags":[],` +
		`"message":"Your email address could not be checked. Please try again shortly.","suggestion":null}`
)

func bothChoices(t *testing.T) string {
	return hooksFile(t, anyObject{"name": "open", "on_error": "allow"}, anyObject{"name": "closed", "on_error": "deny"})
}

// requireUnchecked requires that both hooks decide by on_error about a valid address,
// and deny one that is not valid all the same.
func (s *instance) requireUnchecked(t *testing.T, id string) {
	t.Helper()
	for hook, want := range map[string]string{"open": allowedUnchecked, "closed": deniedUnchecked} {
		require.Equal(t, want, s.decide(t, hook, id, "jane@mail.example"))
		require.Contains(t, s.decide(t, hook, id+"x", "jane..doe@mail.example"), `"reasons":["invalid"]`, hook)
	}
}

// If the account cannot pay, on_error decides, and the log says why without an address. A
// sign-up that was paid for has its response still, and a secret that a rotation ended is
// renewed. Package signuphook tests the other reasons why an account cannot pay.
func TestHookAccountCannotPay(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", bothChoices(t))
	s.requireUnchecked(t, "msg_none")
	_, account := s.limitedKey(t, 2)
	paid := s.decide(t, "closed", "msg_paid", "jane@mail.example")
	require.Contains(t, paid, `"decision":"allow"`)
	keys, err := s.ledger.ListKeys(t.Context(), account, book.KeyPage{Search: "hook closed"})
	require.NoError(t, err)
	require.Len(t, keys, 1)
	_, _, err = s.ledger.RotateKey(t.Context(), account, keys[0].ID, 0)
	require.NoError(t, err)
	require.Contains(t, s.decide(t, "closed", "msg_rotated", "jane@mail.example"), `"decision":"allow"`)

	time.Sleep(1100 * time.Millisecond) // real time: the log has a line a second, a slow machine waits longer
	s.requireUnchecked(t, "msg_poor")
	require.Equal(t, paid, s.decide(t, "closed", "msg_paid", "jane@mail.example"))
	s.awaitLog(t, "there is no such account")
	s.awaitLog(t, "usage points are used up")
	require.NotContains(t, s.wholeLog(t), "@mail.example")
}

// While the database is away, hooks decide by on_error; afterwards they check again.
func TestHookLedgerDown(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", bothChoices(t))
	s.newKey(t)
	before := s.decide(t, "open", "msg_1", "jane@mail.example")
	require.Contains(t, before, `"flags":[]`)
	release := s.lock(t)
	s.requireUnchecked(t, "msg_down")
	release()
	require.Eventually(t, func() bool { return s.decide(t, "open", "msg_1", "jane@mail.example") == before }, hung, 100*time.Millisecond)
}

// An account's rate delays sign-ups that come at once, within the timeout of the hook.
func TestHookWaitsForRate(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{"timeout": "10s"}))
	ledgertest.NewAccountOn(t, s.ledger, testAccount, book.Terms{Rate: ledgertest.Limit(1)})
	var calls sync.WaitGroup
	for n := range 3 {
		calls.Go(func() {
			_, text := s.callHook(t, signedCall{hook: "signup", id: fmt.Sprint("msg_", n), body: `{"email":"jane@mail.example"}`})
			if !strings.Contains(text, `"decision":"allow"`) {
				t.Error(text)
			}
		})
	}
	calls.Wait()
	require.EqualValues(t, 3, s.used(t))
}

// What is not a well-formed, signed call costs nothing and is not looked at. No address, no ID
// and no secret is in the log, in the metrics or in the database, also of a call that is
// charged. Packages signuphook and api test what else is refused.
func TestHookRefuses(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{"rate": 10000, "policy": blocking("typo")}))
	key := s.newKey(t)
	const body = `{"email":"canary-7f3a@mail.example"}`
	for _, path := range []string{"other", "", "../edge/admit", "sign%75p", "signup/", "Signup", "%EF%BD%93ignup"} {
		response, text := s.callHook(t, signedCall{hook: path, id: "msg_1", body: body})
		require.Equal(t, http.StatusNotFound, response.StatusCode, "%s: %s", path, text)
	}
	for name, c := range map[string]struct {
		call   signedCall
		status int
	}{
		"another secret":     {signedCall{body: body, secret: newHookSecret}, 401},
		"API key":            {signedCall{body: body, secret: newHookSecret, header: http.Header{"X-Api-Key": {key}}}, 401},
		"other type":         {signedCall{body: body, header: http.Header{"Content-Type": {"text/plain"}}}, 415},
		"compressed":         {signedCall{body: body, header: http.Header{"Content-Encoding": {"gzip"}}}, 415},
		"address with a NUL": {signedCall{body: `{"email":"canary-7f3a\u0000@mail.example"}`}, 200},
	} {
		c.call.hook, c.call.id = "signup", "msg_canary"
		response, text := s.callHook(t, c.call)
		require.Equal(t, c.status, response.StatusCode, "%s: %s", name, text)
		require.NotContains(t, text, "canary-7f3a", name)
		if c.status == 200 {
			require.Contains(t, text, `"reasons":["invalid"]`, name)
		}
	}
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE"} {
		response, _ := s.send(t, method, "/v1/hooks/signup", "", "", nil)
		require.Equal(t, http.StatusMethodNotAllowed, response.StatusCode)
		require.Equal(t, "POST", response.Header.Get("Allow"))
	}
	require.Zero(t, s.used(t))
	require.Contains(t, s.decide(t, "signup", "msg_canary", "canary-7f3a@gmial.com"), `"suggestion":"gmail.com"`)
	require.EqualValues(t, 1, s.used(t))

	_, metrics := s.send(t, http.MethodGet, "/metrics", "", "", nil)
	require.Contains(t, metrics, `addrspec_hook_decisions_total{decision="unsigned",hook="signup"}`)
	require.NotContains(t, metrics, `hook="other"`)
	for _, secret := range []string{"canary-7f3a", "msg_canary", "gmail.com", "gmial.com", hookSecret[6:], newHookSecret[6:]} {
		require.NotContains(t, s.wholeLog(t), secret)
		require.NotContains(t, metrics, secret)
		requireInNoFile(t, filepath.Dir(strings.TrimPrefix(s.database, "sqlite:")), secret)
	}
}

// A hook's rate counts calls with a valid signature only, so that a flood of others
// does not keep sign-ups from being decided.
func TestHookRate(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{"rate": 1}))
	s.newKey(t)
	call := signedCall{hook: "signup", body: `{"email":"jane@mail.example"}`}
	for n := range 20 {
		call.id, call.secret = fmt.Sprint("msg_", n), newHookSecret
		response, _ := s.callHook(t, call)
		require.Equal(t, http.StatusUnauthorized, response.StatusCode)
	}
	statuses := map[int]int{}
	for n := range 4 {
		call.id, call.secret = fmt.Sprint("msg_", n), hookSecret
		response, text := s.callHook(t, call)
		statuses[response.StatusCode]++
		if response.StatusCode == http.StatusTooManyRequests {
			require.Equal(t, "1", response.Header.Get("Retry-After"), text)
		}
	}
	require.GreaterOrEqual(t, statuses[200], 2, "twice the rate at once")
	require.NotZero(t, statuses[429])
	require.EqualValues(t, statuses[200], s.used(t))
}

// Bodies that do not end hold a share of the memory only: other requests are served,
// and so are other hooks.
func TestHookSlowBodies(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--body-memory", "20MiB", "--hooks", hooksFile(t, anyObject{}, anyObject{"name": "other"}))
	key := s.newKey(t)
	part := strings.Repeat(" ", 200<<10)
	var conns []net.Conn
	for range 60 {
		conn, err := net.Dial("tcp", s.hostPort)
		require.NoError(t, err)
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "POST /v1/hooks/signup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 262144\r\n"+
			"webhook-id: msg_1\r\nwebhook-timestamp: %d\r\nwebhook-signature: v1,x\r\n\r\n%s", time.Now().Unix(), part)
		require.NoError(t, err)
		conns = append(conns, conn)
	}
	require.Eventually(t, func() bool { return s.metric(t, "addrspec_body_bytes") > 1<<20 }, hung, 10*time.Millisecond)
	require.LessOrEqual(t, s.metric(t, "addrspec_body_bytes"), float64(5<<20), "a quarter of the budget")
	status, _, err := s.get(key, "/v1/email/jane@mail.example")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	s.decide(t, "other", "msg_1", "jane@mail.example")
	for _, conn := range conns {
		conn.Close()
	}
	require.Eventually(t, func() bool { return s.metric(t, "addrspec_body_bytes") == 0 }, hung, 10*time.Millisecond)
}
