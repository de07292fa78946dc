package command

import (
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

type anyObject = map[string]any

func blocking(reasons ...string) anyObject { return anyObject{"block": anyObject{"reasons": reasons}} }

var usualPolicy = anyObject{"block": anyObject{"reasons": []string{"disposable", "no_mx"}},
	"review": anyObject{"reasons": []string{"role", "gibberish"}}}

// hooksFile writes a file of hooks, each with the usual members unless it has its own.
func hooksFile(t *testing.T, hooks ...anyObject) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hooks.json")
	writeHooks(t, file, "v1,"+hookSecret, hooks...)
	return file
}

func writeHooks(t *testing.T, file, secrets string, hooks ...anyObject) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "hook.secret"), []byte(secrets+"\n"), 0o600))
	for n, own := range hooks {
		hooks[n] = anyObject{"name": "signup", "format": "generic", "account": testAccount, "secret_file": "hook.secret",
			"policy": usualPolicy, "on_error": "deny"}
		maps.Copy(hooks[n], own)
	}
	text, err := json.Marshal(anyObject{"hooks": hooks})
	require.NoError(t, err)
	replace(t, file, text)
}

type signedCall struct {
	hook, id, body string
	secret         string // hookSecret if empty
	at             time.Time
	header         http.Header // replaces headers
}

func (s *instance) callHook(t testing.TB, c signedCall) (*http.Response, string) {
	t.Helper()
	if c.at.IsZero() {
		c.at = time.Now()
	}
	if c.secret == "" {
		c.secret = hookSecret
	}
	header := signed(t, c.secret, c.id, c.at, c.body)
	maps.Copy(header, c.header)
	return post(t, "http://"+s.hostPort+"/v1/hooks/"+c.hook, header, c.body)
}

// signed returns the headers of a message that Standard Webhooks signs.
func signed(t testing.TB, secret, id string, at time.Time, body string) http.Header {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	signature, err := signer.Sign(id, at, []byte(body))
	require.NoError(t, err)
	return http.Header{"Content-Type": {"application/json"}, "Webhook-Id": {id},
		"Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)}, "Webhook-Signature": {signature}}
}

func post(t testing.TB, url string, header http.Header, body string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header = header
	response, err := httpClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(text)
}

// decide calls a hook about an address, and returns the body of the 200.
func (s *instance) decide(t testing.TB, hook, id, email string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"email": email})
	require.NoError(t, err)
	response, text := s.callHook(t, signedCall{hook: hook, id: id, body: string(body)})
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	return text
}

// A hook decides by its policy and DNS, and charges as a single check does: one point for a
// valid address, nothing for another or if on_error decides, and nothing for a further call
// about the same sign-up. So does a hook whose policy is in a file of its own.
func TestHookDecides(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "hooks.json")
	text, err := json.Marshal(usualPolicy)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "policy.json"), text, 0o600))
	writeHooks(t, file, hookSecret, anyObject{}, anyObject{"name": "apart", "policy": "policy.json"})
	s := start(t, "--dns", contract.Serve(t), "--hooks", file)
	ledgertest.NewAccountOn(t, s.ledger, testAccount, book.Terms{Plan: "enterprise"})
	const denied = `{"decision":"deny","reasons":["%s"],"flags":[],"message":"%s","suggestion":null}`
	noMX := fmt.Sprintf(denied, "no_mx", "This email address may not receive mail. Please check its domain.")
	disposable := fmt.Sprintf(denied, "disposable", "Please use a permanent email address.")
	const allowed = `{"decision":"allow","reasons":[],"flags":[],"message":null,"suggestion":null}`
	for n, c := range []struct {
		email, want string
		points      int64
	}{
		{"jane@mail.example", allowed, 1},
		{"info@mail.example", strings.Replace(allowed, `"flags":[]`, `"flags":["role"]`, 1), 1},
		{"jane@none.example", noMX, 1},
		{"jane@mailinator.com", disposable, 1},
		{"jane@burner.example", disposable, 1}, // by its exchanges
		{"jane@mixed.example", allowed, 1},
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
		calls.Go(func() {
			response, text := s.callHook(t, signedCall{hook: "signup", id: "msg_same", body: `{"email":"jane@mail.example"}`})
			if response.StatusCode != http.StatusOK || !strings.Contains(text, `"allow"`) {
				t.Error(response.Status, text)
			}
		})
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
	statuses := func() (list []int) {
		for _, secret := range []string{hookSecret, newHookSecret} {
			call := signedCall{hook: "signup", id: "msg_1", body: `{"email":"a@mail.example"}`, secret: secret}
			response, _ := s.callHook(t, call)
			list = append(list, response.StatusCode)
		}
		return list
	}
	reload := func(line, secrets string, policy anyObject) {
		writeHooks(t, file, secrets, anyObject{"policy": policy})
		before := strings.Count(s.log.String(), line)
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
		require.Eventually(t, func() bool { return strings.Count(s.log.String(), line) > before }, hung, 10*time.Millisecond)
	}
	const done, refused = "reloaded the sign-up hooks", "new sign-up hooks are invalid"
	require.Equal(t, []int{200, 401}, statuses())
	reload(done, "v1,"+newHookSecret+",v1,"+hookSecret, usualPolicy)
	require.Equal(t, []int{200, 200}, statuses())
	reload(done, newHookSecret, anyObject{"review": anyObject{"domains": []string{"mail.example"}}})
	require.Equal(t, []int{401, 200}, statuses())
	call := signedCall{hook: "signup", id: "msg_2", body: `{"email":"a@mail.example"}`, secret: newHookSecret}
	_, text := s.callHook(t, call)
	require.Contains(t, text, `"flags":["domain"]`)

	reload(refused, newHookSecret, blocking("role", "disposible"))
	require.Contains(t, s.wholeLog(t), "block.reasons[1]")
	require.Equal(t, []int{401, 200}, statuses())

	account, err := s.ledger.AccountByEmail(t.Context(), testAccount)
	require.NoError(t, err)
	require.NoError(t, s.ledger.DeleteAccount(t.Context(), account.ID))
	reload(refused, hookSecret, usualPolicy)
	require.Contains(t, s.wholeLog(t), missingAccount)
	require.Equal(t, []int{401, 200}, statuses())
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

	plain := strings.ReplaceAll(missingAccount, `\`, "")
	check := func(code int, missing ...string) {
		out, problem, is := operator(t, withModule(t, "hooks", "check", file, "--database", s.database)...)
		require.Equal(t, code, is, out+problem)
		status, part := "hooks ok", "2 valid, and their accounts exist"
		for _, words := range missing {
			status, part = "hooks WRONG", words
			require.Contains(t, problem, words)
		}
		requireFindings(t, "--hooks "+file+" --database "+s.database, status+" .*"+part)
	}
	ledgertest.NewAccount(t, s.ledger, "other@example.org")
	check(1, plain)
	s.newKey(t)
	check(0)
	require.Contains(t, s.decide(t, "signup", "msg_2", "jane@mail.example"), `"allow"`)
}

// hooks check says what a file is and where a mistake is, and decides as the service does.
func TestHooksCheck(t *testing.T) {
	t.Parallel()
	check := func(file string, more ...string) (out, problem string, code int) {
		module := []string{"--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir()}
		return operator(t, append(append([]string{"hooks", "check", file}, module...), more...)...)
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
	out, _, _ = operator(t, "doctor", "--hooks", wrong, "--database", "sqlite:"+filepath.Join(t.TempDir(), "none.db"),
		"--dns", contract.Serve(t), "--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir())
	require.Contains(t, out, mistake)

	dns := contract.Serve(t)
	for _, c := range []struct{ address, flag, want string }{
		{"jane@address.example", "--dns=" + dns, `/v1/hooks/signup: {"decision":"deny","reasons":["no_mx"]`},
		{"jane@address.example", "--dns=" + dns, `/v1/hooks/mail: {"decision":"allow"`},
		{"jane@void.example", "--dns=" + dns, `"message":"This email address cannot receive mail.`},
		{"jane@burner.example", "--dns=" + dns, `/v1/hooks/signup: {"decision":"deny","reasons":["disposable"]`},
		{"jane@burner.example", "--offline", `/v1/hooks/signup: {"decision":"allow"`},
	} {
		out, problem, code = check(both, c.address, c.flag)
		require.Zero(t, code, problem)
		require.Contains(t, out, c.want)
	}
	out, _, _ = check(both, "jane@mail.example", "--offline", "--hook", "mail")
	require.NotContains(t, out, "/v1/hooks/signup")
	_, problem, code = check(both, "jane@servfail.example", "--dns", dns)
	require.NotZero(t, code)
	require.Contains(t, problem, "the hook signup decides by on_error")
}
