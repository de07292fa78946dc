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
	deniedUnchecked  = `{"decision":"deny","reasons":["unchecked"],"flags":[],"message":"Your email address could not be checked. Please try again shortly.","suggestion":null}`
)

// bothChoices has a hook for each on_error.
func bothChoices(t *testing.T, own anyObject) string {
	open, closed := anyObject{"name": "open", "on_error": "allow"}, anyObject{"name": "closed", "on_error": "deny"}
	for member, value := range own {
		open[member], closed[member] = value, value
	}
	return hooksFile(t, open, closed)
}

// requireUnchecked requires that both hooks decide by on_error about a valid address,
// and deny one that is not valid all the same.
func (s *instance) requireUnchecked(t *testing.T, id, email string) {
	t.Helper()
	for hook, want := range map[string]string{"open": allowedUnchecked, "closed": deniedUnchecked} {
		response, text := s.callHook(t, signedCall{hook: hook, id: id, body: `{"email":"` + email + `"}`})
		require.Equal(t, http.StatusOK, response.StatusCode, text)
		require.Equal(t, want, text, hook)
		_, text = s.callHook(t, signedCall{hook: hook, id: id + "x", body: `{"email":"jane..doe@mail.example"}`})
		require.Contains(t, text, `"reasons":["invalid"]`, hook)
	}
}

// aSecondLater waits for a view of an account to end, and for the log's next line of the
// same kind, both of which take a second.
func aSecondLater() {
	time.Sleep(1100 * time.Millisecond) // real time: a slow machine waits longer
}

// Whatever keeps an account from paying is decided by on_error, and the log says why.
func TestHookAccountCannotPay(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", bothChoices(t, nil))
	s.requireUnchecked(t, "msg_none", "jane@mail.example")

	_, account := s.limitedKey(t, 1)
	body := signedCall{hook: "closed", id: "msg_paid", body: `{"email":"jane@mail.example"}`}
	_, paid := s.callHook(t, body)
	require.Contains(t, paid, `"decision":"allow"`)
	aSecondLater()
	s.requireUnchecked(t, "msg_poor", "jane@mail.example")
	_, again := s.callHook(t, body)
	require.Equal(t, paid, again, "a sign-up that was paid for has its response still")

	require.NoError(t, s.ledger.SuspendAccount(t.Context(), account))
	aSecondLater()
	s.requireUnchecked(t, "msg_suspended", "jane@mail.example")
	require.NoError(t, s.ledger.ResumeAccount(t.Context(), account))

	require.NoError(t, s.ledger.ChangeTerms(t.Context(), account, book.Terms{Plan: "enterprise"}))
	keys, err := s.ledger.ListKeys(t.Context(), account, book.KeyPage{Search: "hook closed"})
	require.NoError(t, err)
	require.Len(t, keys, 1)
	_, _, err = s.ledger.RotateKey(t.Context(), account, keys[0].ID, 0)
	require.NoError(t, err)
	_, text := s.callHook(t, signedCall{hook: "closed", id: "msg_rotated", body: `{"email":"jane@mail.example"}`})
	require.Contains(t, text, `"decision":"allow"`, "a secret that a rotation ended is renewed")
	require.NoError(t, s.ledger.RevokeKey(t.Context(), account, keys[0].ID))
	aSecondLater()
	_, text = s.callHook(t, signedCall{hook: "closed", id: "msg_revoked", body: `{"email":"jane@mail.example"}`})
	require.Equal(t, deniedUnchecked, text)

	require.NoError(t, s.ledger.DeleteAccount(t.Context(), account))
	aSecondLater()
	s.requireUnchecked(t, "msg_deleted", "jane@mail.example")
	log := s.wholeLog(t)
	for _, why := range []string{"there is no such account", "usage points are used up", "it is suspended", "revoked the hook's key"} {
		require.Contains(t, log, why)
	}
	require.NotContains(t, log, "@mail.example")
}

// A lookup that fails or is silent is decided by on_error within the hook's timeout,
// and costs nothing.
func TestHookResolverDown(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--dns-timeout", "1m", "--hooks", bothChoices(t, anyObject{"timeout": "1500ms", "flag": []string{"no_mx"}, "deny": []string{"invalid"}}))
	s.newKey(t)
	s.requireUnchecked(t, "msg_fail", "jane@servfail.example")
	s.requireUnchecked(t, "msg_silent", "jane@silent.example")
	require.Zero(t, s.used(t))
}

// DNS is asked for no_mx, and for disposable if the lists have no entry for the domain. If it
// does not respond, the lists decide about disposable, and on_error about no_mx.
func TestHookWithoutDNS(t *testing.T) {
	t.Parallel()
	lists := []string{"invalid", "disposable"}
	s := start(t, "--dns", "127.0.0.1:1", "--hooks", hooksFile(t, anyObject{"name": "format", "deny": []string{"invalid"}},
		anyObject{"name": "closed", "deny": lists}, anyObject{"name": "mx", "deny": lists, "flag": []string{"no_mx"}},
		anyObject{"name": "mail", "policy": anyObject{"allow": anyObject{"domains": []string{"known.example"}}, "review": anyObject{"reasons": []string{"no_mail"}}}},
		anyObject{"name": "throwaway", "policy": anyObject{"block": anyObject{"reasons": []string{"disposable"}}}}))
	s.newKey(t)
	for n, c := range []struct {
		hook, email, want string
		points            int64
	}{
		{"format", "jane@mail.example", `"decision":"allow","reasons":[]`, 1},
		{"closed", "jane@gmail.com", `"decision":"allow","reasons":[]`, 1},
		{"closed", "jane@mailinator.com", `"decision":"deny","reasons":["disposable"]`, 1},
		{"closed", "jane@gmial.com", `"decision":"allow","reasons":[]`, 1},
		{"closed", "jane@mail.example", `"decision":"allow","reasons":[],"flags":[]`, 1},
		{"mx", "jane@mail.example", `"decision":"deny","reasons":["unchecked"]`, 0},
		{"mx", "jane@mailinator.com", `"decision":"deny","reasons":["disposable"]`, 1},
		{"mail", "jane@mail.example", `"decision":"deny","reasons":["unchecked"]`, 0},
		{"mail", "jane@known.example", `"decision":"allow","reasons":[],"flags":[]`, 1},
		{"throwaway", "jane@mail.example", `"decision":"allow","reasons":[],"flags":[]`, 1},
		{"throwaway", "jane@mailinator.com", `"decision":"deny","reasons":["disposable"]`, 1},
	} {
		before := s.used(t)
		_, text := s.callHook(t, signedCall{hook: c.hook, id: fmt.Sprintf("msg_%d", n), body: `{"email":"` + c.email + `"}`})
		require.Contains(t, text, c.want, c.email)
		require.Equal(t, before+c.points, s.used(t), c.email)
	}
}

// While the database is away, hooks decide by on_error; afterwards they check again.
func TestHookLedgerDown(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", bothChoices(t, nil))
	s.newKey(t)
	call := signedCall{hook: "open", id: "msg_1", body: `{"email":"jane@mail.example"}`}
	_, before := s.callHook(t, call)
	require.Contains(t, before, `"flags":[]`)
	release := s.lock(t)
	s.requireUnchecked(t, "msg_down", "jane@mail.example")
	release()
	require.Eventually(t, func() bool {
		_, text := s.callHook(t, call)
		return text == before
	}, hung, 100*time.Millisecond)
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
			require.Contains(t, text, `"decision":"allow"`)
		})
	}
	calls.Wait()
	require.EqualValues(t, 3, s.used(t))
}

// What is not a well-formed, signed call costs nothing and is not looked at.
func TestHookRefuses(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{"rate": 10000}))
	s.newKey(t)
	const body = `{"email":"canary-7f3a@mail.example"}`
	now := time.Now()
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for n := 0; n < len(pairs); n += 2 {
			h[pairs[n]] = append(h[pairs[n]], pairs[n+1])
		}
		return h
	}
	for name, c := range map[string]struct {
		call   signedCall
		status int
	}{
		"no such hook":         {signedCall{hook: "other", id: "msg_1", body: body}, 404},
		"no name":              {signedCall{hook: "", id: "msg_1", body: body}, 404},
		"path":                 {signedCall{hook: "../edge/admit", id: "msg_1", body: body}, 404},
		"encoded":              {signedCall{hook: "sign%75p", id: "msg_1", body: body}, 404},
		"slash":                {signedCall{hook: "signup/", id: "msg_1", body: body}, 404},
		"case":                 {signedCall{hook: "Signup", id: "msg_1", body: body}, 404},
		"fullwidth":            {signedCall{hook: "%EF%BD%93ignup", id: "msg_1", body: body}, 404},
		"another secret":       {signedCall{hook: "signup", id: "msg_1", body: body, secret: newHookSecret}, 401},
		"old":                  {signedCall{hook: "signup", id: "msg_1", body: body, at: now.Add(-6 * time.Minute)}, 401},
		"new":                  {signedCall{hook: "signup", id: "msg_1", body: body, at: now.Add(6 * time.Minute)}, 401},
		"unsigned":             {signedCall{hook: "signup", id: "msg_1", body: body, header: header("Webhook-Signature", "")}, 401},
		"two ids":              {signedCall{hook: "signup", id: "msg_1", body: body, header: header("Webhook-Id", "msg_1", "Webhook-Id", "msg_2")}, 401},
		"two timestamps":       {signedCall{hook: "signup", id: "msg_1", body: body, header: header("Webhook-Timestamp", "1", "Webhook-Timestamp", "1")}, 401},
		"id with a dot":        {signedCall{hook: "signup", id: "msg.1", body: body}, 401},
		"API key":              {signedCall{hook: "signup", id: "msg_1", body: body, secret: newHookSecret, header: header("X-Api-Key", s.otherKey(t))}, 401},
		"not JSON":             {signedCall{hook: "signup", id: "msg_1", body: "canary-7f3a"}, 400},
		"no body":              {signedCall{hook: "signup", id: "msg_1"}, 400},
		"no email":             {signedCall{hook: "signup", id: "msg_1", body: `{"mail":"canary-7f3a"}`}, 400},
		"two emails":           {signedCall{hook: "signup", id: "msg_1", body: `{"email":"canary-7f3a@mail.example","email":"b@mail.example"}`}, 400},
		"other type":           {signedCall{hook: "signup", id: "msg_1", body: body, header: header("Content-Type", "text/plain")}, 415},
		"compressed":           {signedCall{hook: "signup", id: "msg_1", body: body, header: header("Content-Encoding", "gzip")}, 415},
		"large":                {signedCall{hook: "signup", id: "msg_1", body: body + strings.Repeat(" ", 256<<10)}, 413},
		"long address":         {signedCall{hook: "signup", id: "msg_1", body: `{"email":"` + strings.Repeat("a", 200<<10) + `@mail.example"}`}, 200},
		"address with a NUL":   {signedCall{hook: "signup", id: "msg_2", body: `{"email":"canary-7f3a\u0000@mail.example"}`}, 200},
		"deep":                 {signedCall{hook: "signup", id: "msg_1", body: strings.Repeat("[", 200<<10)}, 400},
		"header of a new line": {signedCall{hook: "signup", id: "msg_1", body: body, header: header("Webhook-Signature", "v1,a, v1,b,, ,")}, 401},
	} {
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
	_, metrics := s.send(t, http.MethodGet, "/metrics", "", "", nil)
	require.Contains(t, metrics, `addrspec_hook_decisions_total{decision="unsigned",hook="signup"}`)
	require.NotContains(t, metrics, `hook="other"`)
	for _, secret := range []string{"canary-7f3a", hookSecret[6:], newHookSecret[6:]} {
		require.NotContains(t, s.wholeLog(t), secret)
		require.NotContains(t, metrics, secret)
		requireInNoFile(t, filepath.Dir(strings.TrimPrefix(s.database, "sqlite:")), secret)
	}
}

// Responses are not stored in the clear, and neither is an address.
func TestHookRecordsNoAddress(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{"deny": []string{"typo"}}))
	s.newKey(t)
	require.Contains(t, s.decide(t, "msg_canary", "canary-7f3a@gmial.com"), `"suggestion":"gmail.com"`)
	require.EqualValues(t, 1, s.used(t))
	for _, secret := range []string{"canary-7f3a", "msg_canary", "gmail.com", "gmial.com", hookSecret[6:]} {
		requireInNoFile(t, filepath.Dir(strings.TrimPrefix(s.database, "sqlite:")), secret)
		require.NotContains(t, s.wholeLog(t), secret)
	}
}

// Without --hooks there is no such path.
func TestNoHooks(t *testing.T) {
	t.Parallel()
	s := start(t)
	response, text := s.callHook(t, signedCall{hook: "signup", id: "msg_1", body: `{}`})
	require.Equal(t, http.StatusNotFound, response.StatusCode, text)
}

// A hook's rate counts calls with a valid signature only, so that a flood of others
// does not keep sign-ups from being decided.
func TestHookRate(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{"rate": 1}))
	s.newKey(t)
	for n := range 20 {
		response, _ := s.callHook(t, signedCall{hook: "signup", id: fmt.Sprint("msg_", n), body: `{"email":"jane@mail.example"}`, secret: newHookSecret})
		require.Equal(t, http.StatusUnauthorized, response.StatusCode)
	}
	statuses := map[int]int{}
	for n := range 4 {
		response, text := s.callHook(t, signedCall{hook: "signup", id: fmt.Sprint("msg_", n), body: `{"email":"jane@mail.example"}`})
		if statuses[response.StatusCode]++; response.StatusCode == http.StatusTooManyRequests {
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
	response, text := s.callHook(t, signedCall{hook: "other", id: "msg_1", body: `{"email":"jane@mail.example"}`})
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	for _, conn := range conns {
		conn.Close()
	}
	require.Eventually(t, func() bool { return s.metric(t, "addrspec_body_bytes") == 0 }, hung, 10*time.Millisecond)
}
