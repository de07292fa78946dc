package command

import (
	"bytes"
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
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// Two secrets of hooks, made for these tests.
var (
	hookSecret    = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a hook's secret of 32 bytes here"))
	newHookSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("the secret that replaces the old"))
)

// An anyObject is a JSON object.
type anyObject = map[string]any

// usualPolicy is the policy of hooks, and usualSettings are the same as files have them that
// are older than policies.
var (
	usualPolicy   = anyObject{"block": anyObject{"reasons": []string{"disposable", "no_mx"}}, "review": anyObject{"reasons": []string{"role", "gibberish"}}}
	usualSettings = anyObject{"deny": []string{"invalid", "disposable", "no_mx"}, "flag": []string{"role", "gibberish"}}
)

// hooksFile writes a file of hooks, each with the usual members unless it has its own.
func hooksFile(t *testing.T, hooks ...anyObject) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hooks.json")
	writeHooks(t, file, hooks...)
	return file
}

func writeHooks(t *testing.T, file string, hooks ...anyObject) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "hook.secret"), []byte("v1,"+hookSecret+"\n"), 0o600))
	for n, own := range hooks {
		hooks[n] = anyObject{"name": "signup", "format": "generic", "account": testAccount, "secret_file": "hook.secret", "on_error": "deny"}
		if own["deny"] == nil && own["flag"] == nil {
			hooks[n]["policy"] = usualPolicy
		}
		maps.Copy(hooks[n], own)
	}
	text, err := json.Marshal(anyObject{"hooks": hooks})
	require.NoError(t, err)
	replace(t, file, text)
}

// A signedCall is a request to a hook.
type signedCall struct {
	hook, id, body string
	secret         string // hookSecret if empty
	at             time.Time
	header         http.Header // replaces headers
}

// callHook sends a call and returns the response.
func (s *instance) callHook(t testing.TB, c signedCall) (*http.Response, string) {
	t.Helper()
	if c.at.IsZero() {
		c.at = time.Now()
	}
	if c.secret == "" {
		c.secret = hookSecret
	}
	signer, err := standardwebhooks.NewWebhook(c.secret)
	require.NoError(t, err)
	signature, err := signer.Sign(c.id, c.at, []byte(c.body))
	require.NoError(t, err)
	request, err := http.NewRequest(http.MethodPost, "http://"+s.hostPort+"/v1/hooks/"+c.hook, bytes.NewReader([]byte(c.body)))
	require.NoError(t, err)
	request.Header = http.Header{"Content-Type": {"application/json"}, "Webhook-Id": {c.id},
		"Webhook-Timestamp": {strconv.FormatInt(c.at.Unix(), 10)}, "Webhook-Signature": {signature}}
	maps.Copy(request.Header, c.header)
	response, err := httpClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(text)
}

// decide calls the hook signup about an address, and returns the body of the 200.
func (s *instance) decide(t testing.TB, id, email string) string {
	return s.decideBy(t, "signup", id, email)
}

func (s *instance) decideBy(t testing.TB, hook, id, email string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"email": email})
	require.NoError(t, err)
	response, text := s.callHook(t, signedCall{hook: hook, id: id, body: string(body)})
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	return text
}

// A hook decides by its policy, and charges as a single check does: one point for a
// valid address, nothing for another. So does a hook with the settings from before
// policies, and one whose policy is in a file of its own.
func TestHookDecides(t *testing.T) {
	t.Parallel()
	old, apart := maps.Clone(usualSettings), anyObject{"name": "apart", "policy": "policy.json"}
	old["name"] = "old"
	file := filepath.Join(t.TempDir(), "hooks.json")
	text, err := json.Marshal(usualPolicy)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "policy.json"), text, 0o600))
	writeHooks(t, file, anyObject{}, old, apart)
	s := start(t, "--dns", contract.Serve(t), "--hooks", file)
	_, account := ledgertest.NewAccountOn(t, s.ledger, testAccount, book.Terms{Plan: "enterprise"})
	for n, c := range []struct {
		email, want string
		points      int64
	}{
		{"jane@mail.example", `{"decision":"allow","reasons":[],"flags":[],"message":null,"suggestion":null}`, 1},
		{"info@mail.example", `{"decision":"allow","reasons":[],"flags":["role"],"message":null,"suggestion":null}`, 1},
		{"jane@none.example", `{"decision":"deny","reasons":["no_mx"],"flags":[],"message":"This email address may not receive mail. Please check its domain.","suggestion":null}`, 1},
		{"jane@mailinator.com", `{"decision":"deny","reasons":["disposable"],"flags":[],"message":"Please use a permanent email address.","suggestion":null}`, 1},
		{"jane..doe@mail.example", `{"decision":"deny","reasons":["invalid"],"flags":[],"message":"This is not a valid email address. Please check it.","suggestion":null}`, 0},
		{"jane@[192.0.2.1]", `{"decision":"deny","reasons":["no_mx"],"flags":[],"message":"This email address may not receive mail. Please check its domain.","suggestion":null}`, 1},
		{"jane@servfail.example", `{"decision":"deny","reasons":["unchecked"],"flags":[],"message":"Your email address could not be checked. Please try again shortly.","suggestion":null}`, 0},
		{"", `{"decision":"allow","reasons":[],"flags":[],"message":null,"suggestion":null}`, 0},
	} {
		for _, hook := range []string{"signup", "old", "apart"} {
			before := s.used(t)
			id := fmt.Sprintf("msg_%d", n)
			require.Equal(t, c.want, s.decideBy(t, hook, id, c.email), c.email)
			require.Equal(t, c.want, s.decideBy(t, hook, id, c.email), "again")
			require.Equal(t, before+c.points, s.used(t), c.email)
		}
	}
	require.Equal(t, 1, strings.Count(s.wholeLog(t), "has no policy yet"), "the one with settings from before policies")
	keys, err := s.ledger.ListKeys(t.Context(), account, book.KeyPage{Search: "hook signup"})
	require.NoError(t, err)
	require.Len(t, keys, 1)
	require.Equal(t, "hook signup", keys[0].Name)
	require.Zero(t, keys[0].Replaced, "it was not rotated")
}

// A domain that is in no list is disposable if all its exchanges are. `hooks check` finds
// the same, but for --offline.
func TestHookDecidesByExchanges(t *testing.T) {
	t.Parallel()
	dns, file := contract.Serve(t), hooksFile(t, anyObject{"deny": []string{"invalid", "disposable"}})
	s := start(t, "--dns", dns, "--hooks", file)
	s.newKey(t)
	for n, c := range []struct{ email, want string }{
		{"jane@burner.example", `{"decision":"deny","reasons":["disposable"],"flags":[],"message":"Please use a permanent email address.","suggestion":null}`},
		{"jane@mixed.example", `{"decision":"allow","reasons":[],"flags":[],"message":null,"suggestion":null}`},
		{"jane@address.example", `{"decision":"allow","reasons":[],"flags":[],"message":null,"suggestion":null}`},
	} {
		require.Equal(t, c.want, s.decide(t, fmt.Sprintf("msg_%d", n), c.email), c.email)
		check := []string{"hooks", "check", file, c.email, "--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir()}
		out, problem, code := operator(t, append(check, "--dns", dns)...)
		require.Zero(t, code, problem)
		require.Equal(t, "/v1/hooks/signup: "+c.want+"\n", out)
		out, _, _ = operator(t, append(check, "--offline")...)
		require.Contains(t, out, `"decision":"allow"`)
	}
}

// Calls about one sign-up at the same time are charged once and get the same response.
func TestHookChargesOnce(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{"rate": 1000}))
	s.newKey(t)
	var calls sync.WaitGroup
	for range 32 {
		calls.Go(func() {
			response, text := s.callHook(t, signedCall{hook: "signup", id: "msg_same", body: `{"email":"jane@mail.example"}`})
			require.Equal(t, http.StatusOK, response.StatusCode)
			require.Contains(t, text, `"allow"`)
		})
	}
	calls.Wait()
	require.EqualValues(t, 1, s.used(t))
	response, text := s.callHook(t, signedCall{hook: "signup", id: "msg_same", body: `{"email":"other@mail.example"}`})
	require.Equal(t, http.StatusUnprocessableEntity, response.StatusCode, text)
	require.EqualValues(t, 1, s.used(t))
}

// SIGHUP reloads the file and the secrets, so a secret can be changed without a pause.
func TestHookReload(t *testing.T) {
	file := hooksFile(t, anyObject{})
	s := start(t, "--dns", contract.Serve(t), "--hooks", file)
	s.newKey(t)
	status := func(secret string) int {
		response, _ := s.callHook(t, signedCall{hook: "signup", id: "msg_1", body: `{"email":"a@mail.example"}`, secret: secret})
		return response.StatusCode
	}
	reload := func(secrets string) {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "hook.secret"), []byte(secrets), 0o600))
		reloads := strings.Count(s.log.String(), "reloaded the sign-up hooks")
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
		require.Eventually(t, func() bool { return strings.Count(s.log.String(), "reloaded the sign-up hooks") > reloads }, hung, 10*time.Millisecond)
	}
	require.Equal(t, []int{200, 401}, []int{status(hookSecret), status(newHookSecret)})
	reload("v1," + newHookSecret + ",v1," + hookSecret)
	require.Equal(t, []int{200, 200}, []int{status(hookSecret), status(newHookSecret)})
	reload(newHookSecret)
	require.Equal(t, []int{401, 200}, []int{status(hookSecret), status(newHookSecret)})

	writeHooks(t, file, anyObject{"policy": anyObject{"review": anyObject{"domains": []string{"mail.example"}}}})
	reload(newHookSecret)
	_, text := s.callHook(t, signedCall{hook: "signup", id: "msg_2", body: `{"email":"a@mail.example"}`, secret: newHookSecret})
	require.Contains(t, text, `"flags":["domain"]`)

	writeHooks(t, file, anyObject{"policy": anyObject{"block": anyObject{"reasons": []string{"role", "disposible"}}}})
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "hook.secret"), []byte(newHookSecret), 0o600))
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	require.Eventually(t, func() bool { return s.log.Contains("new sign-up hooks are invalid") }, hung, 10*time.Millisecond)
	require.Contains(t, s.wholeLog(t), "block.reasons[1]")
	require.Equal(t, 200, status(newHookSecret), "the hooks before the invalid file remain in use")
}

// Hooks with opposite policies, called at the same time, decide each by its own.
func TestHooksDisagree(t *testing.T) {
	t.Parallel()
	domains := anyObject{"domains": []string{"*.mail.example", "none.example"}}
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t,
		anyObject{"name": "open", "rate": 10000, "timeout": "30s", "policy": anyObject{"allow": domains, "block": anyObject{"reasons": []string{"role", "no_mx"}}}},
		anyObject{"name": "closed", "rate": 10000, "timeout": "30s", "policy": anyObject{"block": domains}},
		anyObject{"name": "old", "rate": 10000, "timeout": "30s", "deny": []string{"role"}, "flag": []string{"no_mx"}}))
	ledgertest.NewAccountOn(t, s.ledger, testAccount, book.Terms{Plan: "enterprise"})
	want := map[string][2]string{"open": {`"allow","reasons":[],"flags":[]`, `"allow","reasons":[],"flags":[]`},
		"closed": {`"deny","reasons":["domain"]`, `"deny","reasons":["domain"]`}, "old": {`"deny","reasons":["role"]`, `"allow","reasons":[],"flags":["no_mx"]`}}
	var calls sync.WaitGroup
	for n := range 8 {
		for hook, want := range want {
			calls.Go(func() {
				for m := range 10 {
					id := fmt.Sprintf("msg_%d_%d", n, m)
					for n, email := range []string{"info@mail.example", "jane@none.example"} {
						if text := s.decidedBy(t, hook, id+fmt.Sprint("x", n), email); !strings.Contains(text, want[n]) {
							t.Error(hook, text)
						}
					}
				}
			})
		}
	}
	calls.Wait()
}

// decidedBy repeats a call that a slow machine had decided by on_error.
func (s *instance) decidedBy(t testing.TB, hook, id, email string) string {
	for end := time.Now().Add(hung); ; {
		text := s.decideBy(t, hook, id, email)
		if !strings.Contains(text, "unchecked") || time.Now().After(end) {
			return text
		}
	}
}

// hooks check says how to write settings from before policies, and where a mistake is.
func TestHooksCheck(t *testing.T) {
	t.Parallel()
	old := maps.Clone(usualSettings)
	old["name"], old["flag"] = "old", []string{"role", "gibberish", "no_email"}
	old["gibberish_score"] = 0.8
	check := func(file string, more ...string) (out, problem string, code int) {
		return operator(t, append([]string{"hooks", "check", file, "--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir()}, more...)...)
	}
	out, problem, code := check(hooksFile(t, anyObject{}, old))
	require.Zero(t, code, problem)
	require.Equal(t, "/v1/hooks/signup: ok, reasons to deny [disposable no_mx], to flag [role gibberish], on error deny; "+testAccount+" pays\n"+
		"/v1/hooks/old: ok, reasons to deny [disposable no_mx], to flag [gibberish>=0.81 role], on error deny; "+testAccount+" pays\n"+
		`/v1/hooks/old: replace "deny", "flag" and "gibberish_score" by "policy": {"block":{"reasons":["disposable","no_mx"]},"review":{"reasons":["gibberish>=0.81","role"]}}, "no_email": "review"`+"\n", out)

	file := hooksFile(t, anyObject{}, anyObject{"name": "other", "policy": anyObject{"block": anyObject{"reasons": []string{"role", "disposible"}}}})
	_, problem, code = check(file)
	require.NotZero(t, code)
	require.Contains(t, problem, file+`: hook 2 ("other"): "policy": block.reasons[1]: "disposible" is no reason; did you mean "disposable"?`)
	out, _, _ = operator(t, "doctor", "--hooks", file, "--database", "sqlite:"+filepath.Join(t.TempDir(), "none.db"), "--dns", contract.Serve(t), "--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir())
	require.Contains(t, out, `"policy": block.reasons[1]: "disposible" is no reason`)

	both := hooksFile(t, anyObject{}, anyObject{"name": "mail", "policy": anyObject{"block": anyObject{"reasons": []string{"no_mail"}}}})
	dns := contract.Serve(t)
	out, problem, code = check(both, "jane@address.example", "--dns", dns)
	require.Zero(t, code, problem)
	require.Contains(t, out, `/v1/hooks/signup: {"decision":"deny","reasons":["no_mx"]`)
	require.Contains(t, out, `/v1/hooks/mail: {"decision":"allow"`)
	out, _, _ = check(both, "jane@void.example", "--dns", dns, "--hook", "mail")
	require.Contains(t, out, `"reasons":["no_mail"],"flags":[],"message":"This email address cannot receive mail.`)
	_, problem, code = check(both, "jane@servfail.example", "--dns", dns)
	require.NotZero(t, code)
	require.Contains(t, problem, "the hook signup decides by on_error")
}
