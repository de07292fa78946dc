package command

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// Two secrets of hooks, made for these tests.
var (
	hookSecret    = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a hook's secret of 32 bytes here"))
	newHookSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("the secret that replaces the old"))
)

type anyObject = map[string]any

func blocking(reasons ...string) anyObject { return anyObject{"block": anyObject{"reasons": reasons}} }

var usualPolicy = anyObject{"block": blocking("disposable", "no_mx")["block"],
	"review": anyObject{"reasons": []string{"role", "gibberish"}}}

const (
	allowedUnchecked = `{"decision":"allow","reasons":[],"flags":["unchecked"],"message":null,"suggestion":null}`
	deniedUnchecked  = `{"decision":"deny","reasons":["unchecked"],"flags":[],` +
		`"message":"Your email address could not be checked. Please try again shortly.","suggestion":null}`
)

func hooksFile(t *testing.T, hooks ...anyObject) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hooks.json")
	writeHooks(t, file, "v1,"+hookSecret, hooks...)
	return file
}

func writeHooks(t *testing.T, file, secrets string, hooks ...anyObject) {
	t.Helper()
	replace(t, filepath.Join(filepath.Dir(file), "hook.secret"), []byte(secrets+"\n"))
	for n, own := range hooks {
		hooks[n] = anyObject{"name": "signup", "format": "generic", "account": testAccount, "secret_file": "hook.secret",
			"policy": usualPolicy, "on_error": "deny"}
		maps.Copy(hooks[n], own)
	}
	text := must(json.Marshal(anyObject{"hooks": hooks}))(t)
	replace(t, file, text)
}

// signed returns the headers of a message that Standard Webhooks signs.
func signed(t testing.TB, secret, id string, at time.Time, body string) http.Header {
	t.Helper()
	signer := must(standardwebhooks.NewWebhook(secret))(t)
	signature := must(signer.Sign(id, at, []byte(body)))(t)
	return http.Header{"Content-Type": {"application/json"}, "Webhook-Id": {id},
		"Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)}, "Webhook-Signature": {signature}}
}

func post(t testing.TB, url string, header http.Header, body string) (*http.Response, string) {
	t.Helper()
	request := must(http.NewRequest(http.MethodPost, url, strings.NewReader(body)))(t)
	request.Header = header
	response := must(httpClient.Do(request))(t)
	defer response.Body.Close()
	text := must(io.ReadAll(response.Body))(t)
	return response, string(text)
}

func (s *instance) callHook(t testing.TB, hook, secret, id, body string, more http.Header) (*http.Response, string) {
	t.Helper()
	header := signed(t, secret, id, time.Now(), body)
	maps.Copy(header, more)
	return post(t, "http://"+s.hostPort+"/v1/hooks/"+hook, header, body)
}

func (s *instance) decide(t testing.TB, hook, id, email string) string {
	t.Helper()
	response, text := s.callHook(t, hook, hookSecret, id, `{"email":"`+email+`"}`, nil)
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	return text
}

// A hook decides by its policy and DNS, and charges as a single check does: one point for a
// valid address, nothing for another or if on_error decides, and nothing for a further call
// about the same sign-up. So does a hook whose policy is in a file of its own.
func TestHookDecides(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "hooks.json")
	text := must(json.Marshal(usualPolicy))(t)
	replace(t, filepath.Join(filepath.Dir(file), "policy.json"), text)
	writeHooks(t, file, hookSecret, anyObject{}, anyObject{"name": "apart", "policy": "policy.json"})
	s := start(t, "--dns", contract.Serve(t), "--hooks", file)
	ledgertest.NewAccountOn(t, s.ledger, testAccount, book.Terms{Plan: "enterprise"})
	const denied = `{"decision":"deny","reasons":["%s"],"flags":[],"message":"%s","suggestion":null}`
	noMX := fmt.Sprintf(denied, "no_mx", "This email address may not receive mail. Please check its domain.")
	const allowed = `{"decision":"allow","reasons":[],"flags":[],"message":null,"suggestion":null}`
	for n, c := range []struct {
		email, want string
		points      int64
	}{
		{"jane@mail.example", allowed, 1},
		{"info@mail.example", strings.Replace(allowed, `"flags":[]`, `"flags":["role"]`, 1), 1},
		{"jane@none.example", noMX, 1},
		{"jane@burner.example", fmt.Sprintf(denied, "disposable", "Please use a permanent email address."), 1}, // by its exchanges
		{"jane..doe@mail.example", fmt.Sprintf(denied, "invalid", "This is not a valid email address. Please check it."), 0},
		{"jane@[192.0.2.1]", noMX, 1},
		{"jane@servfail.example", deniedUnchecked, 0},
		{"", allowed, 0},
	} {
		for _, hook := range []string{"signup", "apart"} {
			before, id := s.used(t), fmt.Sprintf("msg_%d", n)
			require.Equal(t, c.want, s.decide(t, hook, id, c.email), c.email)
			require.Equal(t, c.want, s.decide(t, hook, id, c.email), "again")
			require.Equal(t, before+c.points, s.used(t), c.email)
		}
	}
}

// Calls about one sign-up at the same time are charged once and get the same response.
func TestHookChargesOnce(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{"rate": 1000}))
	s.newKey(t)
	var calls sync.WaitGroup
	for range 32 {
		calls.Go(func() { assert.Contains(t, s.decide(t, "signup", "msg_same", "jane@mail.example"), `"allow"`) })
	}
	calls.Wait()
	require.EqualValues(t, 1, s.used(t))
}

// SIGHUP reloads the file and the secrets, so a secret can be changed without a pause. After
// an invalid file the hooks from before remain in use.
func TestHookReload(t *testing.T) {
	file := hooksFile(t, anyObject{})
	s := start(t, "--dns", contract.Serve(t), "--hooks", file)
	s.newKey(t)
	requireStatuses := func(old, newer int) {
		t.Helper()
		for secret, want := range map[string]int{hookSecret: old, newHookSecret: newer} {
			response, _ := s.callHook(t, "signup", secret, "msg_1", `{"email":"a@mail.example"}`, nil)
			require.Equal(t, want, response.StatusCode)
		}
	}
	reload := func(line, secrets string, policy anyObject) {
		writeHooks(t, file, secrets, anyObject{"policy": policy})
		before := strings.Count(s.log.String(), line)
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
		await(t, func() bool { return strings.Count(s.log.String(), line) > before })
	}
	const done, refused = "reloaded the sign-up hooks", "new sign-up hooks are invalid"
	requireStatuses(200, 401)
	reload(done, "v1,"+newHookSecret+",v1,"+hookSecret, usualPolicy)
	requireStatuses(200, 200)
	reload(done, newHookSecret, anyObject{"review": anyObject{"domains": []string{"mail.example"}}})
	requireStatuses(401, 200)
	_, text := s.callHook(t, "signup", newHookSecret, "msg_2", `{"email":"a@mail.example"}`, nil)
	require.Contains(t, text, `"flags":["domain"]`)

	reload(refused, hookSecret, blocking("role", "disposible"))
	require.Contains(t, s.wholeLog(t), "block.reasons[1]")
	account := must(s.ledger.AccountByEmail(t.Context(), testAccount))(t)
	require.NoError(t, s.ledger.DeleteAccount(t.Context(), account.ID))
	reload(refused, hookSecret, usualPolicy)
	require.Contains(t, s.wholeLog(t), missingAccount)
	requireStatuses(401, 200)
}

const missingAccount = `hook signup: \"account\": there is no such account`

// serve starts although an account does not exist. Its hook decides by on_error, of which the first
// decision is an increase for the alert; hooks check, doctor and the page Health name the hook.
func TestHookWithoutAccount(t *testing.T) {
	t.Parallel()
	file := hooksFile(t, anyObject{}, anyObject{"name": "other", "account": "other@example.org"})
	s := start(t, "--dns", contract.Serve(t), "--hooks", file)
	const counter = `addrspec_hook_decisions_total\{decision="deny_unchecked",hook="signup"\}`
	require.Zero(t, s.metric(t, counter))
	require.Equal(t, deniedUnchecked, s.decide(t, "signup", "msg_1", "jane@mail.example"))
	require.Equal(t, 1.0, s.metric(t, counter))
	require.Contains(t, s.wholeLog(t), missingAccount)

	check := func(code int, problem, finding string) {
		out, got, is := operator(t, withModule(t, "hooks", "check", file, "--database", s.database)...)
		require.Equal(t, code, is, out+got)
		require.Contains(t, got, problem)
		requireFindings(t, "--hooks "+file+" --database "+s.database, finding)
	}
	ledgertest.NewAccount(t, s.ledger, "other@example.org")
	plain := strings.ReplaceAll(missingAccount, `\`, "")
	check(1, plain, "hooks WRONG .*"+plain)
	s.newKey(t)
	check(0, "", "hooks ok .*2 valid, and their accounts exist")
	require.Contains(t, s.decide(t, "signup", "msg_2", "jane@mail.example"), `"allow"`)
}

// hooks check says what a file is and where a mistake is, and decides as the service does.
func TestHooksCheck(t *testing.T) {
	t.Parallel()
	check := func(file string, more ...string) (out, problem string, code int) {
		return operator(t, append(withModule(t, "hooks", "check", file), more...)...)
	}
	both := hooksFile(t, anyObject{}, anyObject{"name": "mail", "policy": blocking("no_mail")})
	out, problem, code := check(both)
	require.Zero(t, code, problem)
	require.Equal(t, "/v1/hooks/signup: ok, reasons to deny [disposable no_mx], to flag [role gibberish], on error deny; "+
		testAccount+" pays\n"+
		"/v1/hooks/mail: ok, reasons to deny [no_mail], to flag [], on error deny; "+testAccount+" pays\n", out)

	wrong := hooksFile(t, anyObject{}, anyObject{"name": "other", "policy": blocking("role", "disposible")})
	_, problem, code = check(wrong)
	require.NotZero(t, code)
	const mistake = `"policy": block.reasons[1]: "disposible" is no reason`
	require.Contains(t, problem, wrong+`: hook 2 ("other"): `+mistake+`; did you mean "disposable"?`)
	require.Contains(t, requireFindings(t, "--hooks "+wrong, "hooks WRONG"), mistake)

	dns := contract.Serve(t)
	for _, c := range []struct {
		address, flags string
		code           int
		want           string
	}{
		{"jane@address.example", "--dns=" + dns, 0, `/v1/hooks/signup: {"decision":"deny","reasons":["no_mx"]`},
		{"jane@address.example", "--dns=" + dns, 0, `/v1/hooks/mail: {"decision":"allow"`},
		{"jane@burner.example", "--dns=" + dns, 0, `/v1/hooks/signup: {"decision":"deny","reasons":["disposable"]`},
		{"jane@burner.example", "--offline", 0, `/v1/hooks/signup: {"decision":"allow"`},
		{"jane@mail.example", "--offline --hook mail", 0, `/v1/hooks/mail: {"decision":"allow"`},
		{"jane@servfail.example", "--dns=" + dns, 1, "the hook signup decides by on_error"},
	} {
		out, problem, code = check(both, append(strings.Fields(c.flags), c.address)...)
		require.Equal(t, c.code, code, problem)
		require.Contains(t, out+problem, c.want)
		require.False(t, strings.Contains(c.flags, "--hook") && strings.Contains(out, "/v1/hooks/signup"))
	}
}

func bothChoices(t *testing.T) string {
	return hooksFile(t, anyObject{"name": "open", "on_error": "allow"}, anyObject{"name": "closed"})
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
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(s.database, "sqlite:")+"?_pragma=busy_timeout(20000)")
	require.NoError(t, err)
	must(db.ExecContext(t.Context(), "BEGIN IMMEDIATE"))(t)
	s.requireUnchecked(t, "msg_down")
	require.NoError(t, db.Close())
	await(t, func() bool { return s.decide(t, "open", "msg_1", "jane@mail.example") == before })
}

// An account's rate delays sign-ups that come at once, within the timeout of the hook.
func TestHookWaitsForRate(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{"timeout": "10s"}))
	ledgertest.NewAccountOn(t, s.ledger, testAccount, book.Terms{Rate: ledgertest.Limit(1)})
	var calls sync.WaitGroup
	for n := range 3 {
		calls.Go(func() {
			assert.Contains(t, s.decide(t, "signup", fmt.Sprint("msg_", n), "jane@mail.example"), `"allow"`)
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
	const body, nul = `{"email":"canary-7f3a@mail.example"}`, `{"email":"canary-7f3a\u0000@mail.example"}`
	for _, c := range []struct {
		hook, secret, body string
		header             http.Header
		status             int
	}{
		{"other", hookSecret, body, nil, 404},
		{"../edge/admit", hookSecret, body, nil, 404},
		{"sign%75p", hookSecret, body, nil, 404},
		{"signup/", hookSecret, body, nil, 404},
		{"Signup", hookSecret, body, nil, 404},
		{"signup", newHookSecret, body, nil, 401},
		{"signup", newHookSecret, body, http.Header{"X-Api-Key": {key}}, 401},
		{"signup", hookSecret, body, http.Header{"Content-Type": {"text/plain"}}, 415},
		{"signup", hookSecret, body, http.Header{"Content-Encoding": {"gzip"}}, 415},
		{"signup", hookSecret, nul, nil, 200},
	} {
		response, text := s.callHook(t, c.hook, c.secret, "msg_canary", c.body, c.header)
		require.Equal(t, c.status, response.StatusCode, "%v: %s", c, text)
		require.NotContains(t, text, "canary-7f3a", c)
	}
	for _, method := range []string{"GET", "OPTIONS", "DELETE"} {
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
	secrets, log := []string{"canary-7f3a", "msg_canary", "gmail.com", "gmial.com", hookSecret[6:], newHookSecret[6:]}, s.wholeLog(t)
	for _, secret := range secrets {
		require.NotContains(t, log+metrics, secret)
	}
	s.requireNotStored(t, secrets...)
}

// A hook's rate counts calls with a valid signature only, so that a flood of others
// does not keep sign-ups from being decided.
func TestHookRate(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{"rate": 1}))
	s.newKey(t)
	status := func(secret string, n int) int {
		response, _ := s.callHook(t, "signup", secret, fmt.Sprint("msg_", n), `{"email":"jane@mail.example"}`, nil)
		require.Equal(t, response.StatusCode == http.StatusTooManyRequests, response.Header.Get("Retry-After") == "1")
		return response.StatusCode
	}
	for n := range 20 {
		require.Equal(t, http.StatusUnauthorized, status(newHookSecret, n))
	}
	served, last := 0, status(hookSecret, 0)
	for ; last == http.StatusOK; last = status(hookSecret, served) {
		served++
		require.Less(t, served, 1000)
	}
	require.Equal(t, http.StatusTooManyRequests, last)
	require.GreaterOrEqual(t, served, 2, "twice the rate at once")
	require.EqualValues(t, served, s.used(t))
}

// Bodies that do not end hold a share of the memory only: other requests are served,
// and so are other hooks.
func TestHookSlowBodies(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--body-memory", "20MiB", "--hooks", hooksFile(t, anyObject{}, anyObject{"name": "other"}))
	key := s.newKey(t)
	var conns []*origintest.TestConn
	for range 60 {
		conns = append(conns, origintest.Dial(t, s.hostPort, hung).Send(
			"POST /v1/hooks/signup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 262144\r\n"+
				"webhook-id: msg_1\r\nwebhook-signature: v1,x\r\nwebhook-timestamp: "+fmt.Sprint(time.Now().Unix())+
				"\r\n\r\n"+strings.Repeat(" ", 200<<10)))
	}
	await(t, func() bool { return s.metric(t, "addrspec_body_bytes") > 1<<20 })
	require.LessOrEqual(t, s.metric(t, "addrspec_body_bytes"), float64(5<<20), "a quarter of the budget")
	s.requireStatus(t, http.StatusOK, "/v1/email/jane@mail.example", key, "")
	s.decide(t, "other", "msg_1", "jane@mail.example")
	for _, conn := range conns {
		conn.Close()
	}
	s.awaitMetric(t, "addrspec_body_bytes", 0)
}
