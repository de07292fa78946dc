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
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
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

const deniedUnchecked = `{"decision":"deny","reasons":["unchecked"],"flags":[],` +
	`"message":"Your email address could not be checked. Please try again shortly.","suggestion":null,"canonical":`

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
			"policy": usualPolicy, "on_error": "deny", "timeout": "30s"} // a slow machine checks in time
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
	response := func(decision, reasons, flags, message, canonical string) string {
		return fmt.Sprintf(`{"decision":"%s","reasons":[%s],"flags":[%s],"message":%s,"suggestion":null,"canonical":%s}`,
			decision, reasons, flags, message, canonical)
	}
	denied := func(reason, message, canonical string) string {
		return response("deny", `"`+reason+`"`, "", `"`+message+`"`, canonical)
	}
	const noMX, noMXSays = "no_mx", "This email address may not receive mail. Please check its domain."
	for n, c := range []struct {
		email, want string
		points      int64
	}{
		{"jane@mail.example", response("allow", "", "", "null", `"jane@mail.example"`), 1},
		{"info@mail.example", response("allow", "", `"role"`, "null", `"info@mail.example"`), 1},
		{"jane@none.example", denied(noMX, noMXSays, `"jane@none.example"`), 1},
		{"jane@burner.example", denied("disposable", "Please use a permanent email address.", `"jane@burner.example"`), 1}, // by its exchanges
		{"jane..doe@mail.example", denied("invalid", "This is not a valid email address. Please check it.", "null"), 0},
		{"jane@[192.0.2.1]", denied(noMX, noMXSays, `"jane@[192.0.2.1]"`), 1},
		{"jane@servfail.example", deniedUnchecked + `"jane@servfail.example"}`, 0},
		{"", response("allow", "", "", "null", "null"), 0},
	} {
		for _, hook := range []string{"signup", "apart"} {
			before, id := s.used(t), fmt.Sprintf("msg_%d", n)
			require.Equal(t, c.want, s.decide(t, hook, id, c.email), c.email)
			require.Equal(t, c.want, s.decide(t, hook, id, c.email), "again")
			require.Equal(t, before+c.points, s.used(t), c.email)
		}
	}
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
	require.Equal(t, deniedUnchecked+`"jane@mail.example"}`, s.decide(t, "signup", "msg_1", "jane@mail.example"))
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
