package command

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/webhook"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

const documentedURL = "http://127.0.0.1:8080"

// exampleZone is the DNS data of the addresses in the examples.
const exampleZone = `
	example.org.    300 IN SOA ns.example.org. hostmaster.example.org. 1 2 3 4 60
	example.org.    300 IN MX  10 mx1.example.org.
	address.example.org. 300 IN A 192.0.2.1
`

var interpreters = map[string][]string{
	"example.sh": {"sh"}, "main.go": {"go", "run"}, "example.py": {"python3"}, "example.mjs": {"node"},
}

// wanted is what each example prints; curl prints the JSON, of which these are parts. Those in Python and
// JavaScript use the client of our packages, for which an address that is not valid is no error.
var wanted = map[string]struct{ output, json string }{
	"check-email":   {"valid: true\nperhaps meant: hotmail.com\n", `"typo_suggestion":"hotmail.com"`},
	"check-emails":  {"jane@example.org valid: true typo: false\ninfo@hotmial.com valid: true typo: true\npoints: 2\n", `"usage_points":2`},
	"get-usage":     {"points: 0 of 100\n", `"limit":100`},
	"handle-errors": {"400 INVALID_EMAIL_FORMAT: The local part ends with a dot; remove it.\n", ""},
	"clean-list":    {"jane@example.org,keep\njane.@example.org,remove\ninfo@hotmial.com,ask\njohn@address.example.org,confirm\nxkqzvwjt@mailinator.com,doubt\n", ""},
}

// The examples of the documentation print what they should when they are run
// against a service.
func TestExamples(t *testing.T) {
	s := start(t, "--dns", mxtest.Start(t, exampleZone))
	for name, want := range wanted {
		for _, e := range examples(t, name) {
			t.Run(e.File, func(t *testing.T) {
				t.Parallel()
				key := s.exampleKey(t, e.File, ledgertest.Unlimited(), ledgertest.Limit(100))
				out := must(example(t, e, s.hostPort, key).Output())(t)
				if filepath.Base(e.File) == "example.sh" {
					require.Contains(t, string(out), want.json)
				} else if name == "handle-errors" && filepath.Base(e.File) != "main.go" {
					require.Equal(t, "400 INVALID_REQUEST\n", string(out))
				} else {
					require.Equal(t, want.output, string(out))
				}
			})
		}
	}
}

// If the response to a batch is lost, the example sends it again and it is charged once. It
// retries after the time that the service asks for.
func TestExamplesRetry(t *testing.T) {
	s := start(t, "--dns", mxtest.Start(t, exampleZone))
	for _, e := range examples(t, "retry-safely") {
		t.Run(e.File, func(t *testing.T) {
			t.Parallel()
			key := s.exampleKey(t, e.File, ledgertest.Unlimited(), ledgertest.Limit(100))
			lost, requests := proxyTo(t, s.hostPort, func(forward http.Handler, _ http.ResponseWriter, r *http.Request) {
				forward.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			})
			out, err := example(t, e, lost, key).Output()
			require.NoError(t, err)
			require.Equal(t, "points: 2\n", string(out))
			require.EqualValues(t, 2, requests.Load())
			require.EqualValues(t, 2, ledgertest.Used(t, s.ledger, e.File+"@example.org"))
			slow := s.exampleKey(t, "slow."+e.File, ledgertest.Limit(1), ledgertest.Unlimited())
			late, _ := proxyTo(t, s.hostPort, func(forward http.Handler, w http.ResponseWriter, r *http.Request) {
				usage := httptest.NewRequest(http.MethodGet, "/v1/usage", nil) // takes the token of the second
				usage.Header.Set("X-API-Key", slow)
				forward.ServeHTTP(httptest.NewRecorder(), usage)
				forward.ServeHTTP(w, r)
				if w.Header().Get("Retry-After") == "" {
					t.Error("the first attempt got no time to wait")
				}
			})
			out = must(example(t, e, late, slow).Output())(t)
			require.Equal(t, "points: 2\n", string(out))
		})
	}
}

// The command of the guide writes a line for each address.
func TestExampleChecksAFile(t *testing.T) {
	t.Parallel()
	cmd := example(t, examples(t, "check-file")[0], "", "")
	require.NoError(t, os.Symlink(os.Args[0], filepath.Join(cmd.Dir, "addrspec")))
	cmd.Env = append(cmd.Env, programVariable+"=1", "PATH="+cmd.Dir+":"+os.Getenv("PATH"), "ADDRSPEC_DNS="+contract.Serve(t))
	require.NoError(t, cmd.Run())
	facts := textOf(t, filepath.Join(cmd.Dir, "facts.ndjson"))
	require.Equal(t, strings.Count(exampleList, "\n"), strings.Count(facts, "\n"))
	require.Contains(t, facts, `"typo_suggestion":"hotmail.com"`)
}

func examples(t *testing.T, name string) []docs.Example {
	t.Helper()
	list := must(docs.Examples(name))(t)
	return list
}

func (s *instance) exampleKey(t *testing.T, account string, rate, points *book.Limit) string {
	key, _ := ledgertest.NewAccountOn(t, s.ledger, account+"@example.org", book.Terms{Rate: rate, Points: points})
	return key
}

const exampleList = "jane@example.org\njane.@example.org\ninfo@hotmial.com\njohn@address.example.org\nxkqzvwjt@mailinator.com\njane@example.org\n"

// example returns the command that runs an example in a directory of its own. Only
// the URL differs from what the documentation shows.
func example(t *testing.T, e docs.Example, hostPort, key string) *exec.Cmd {
	t.Helper()
	name := filepath.Base(e.File)
	program := interpreters[name]
	if _, err := exec.LookPath(program[0]); err != nil {
		t.Skipf("%s is not installed", program[0])
	}
	directory := t.TempDir()
	text := strings.ReplaceAll(e.Text, documentedURL, "http://"+hostPort)
	require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(directory, "addresses.txt"), []byte(exampleList), 0o600))
	cmd := exec.Command(program[0], append(program[1:], name)...)
	cmd.Dir = directory
	cmd.Env = os.Environ()
	if strings.Contains(e.Text, "from addrspec.client import") {
		cmd = origintest.PythonPackage(t, name)
		cmd.Dir = directory
	}
	if strings.Contains(e.Text, `from "addrspec/client"`) {
		require.NoError(t, os.Symlink(origintest.NodePackage(t), filepath.Join(directory, "node_modules")))
	}
	cmd.Env = append(cmd.Env, "ADDRSPEC_KEY="+key)
	cmd.Stderr = logIfFailed(t)
	return cmd
}

func proxyTo(t *testing.T, hostPort string, first func(forward http.Handler, w http.ResponseWriter, r *http.Request)) (
	proxy string, requests *atomic.Int32) {
	requests = new(atomic.Int32)
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: hostPort})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			first(forward, w, r)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), requests
}

// The receivers of the documentation accept what the service itself sends, also with the secret
// from before a rotation, and refuse all others.
func TestExamplesVerifyWebhooks(t *testing.T) {
	t.Parallel()
	l := ledgertest.Open(t, origintest.NewDatabase(t))
	for _, e := range examples(t, "verify-webhook") {
		t.Run(e.File, func(t *testing.T) {
			proxy := httptest.NewUnstartedServer(nil)
			proxy.StartTLS()
			defer proxy.Close()
			roots := x509.NewCertPool()
			roots.AddCert(proxy.Certificate())
			sender := webhook.New(l.Store(), webhook.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
				Local: &webhook.Local{Roots: roots}})
			_, account := ledgertest.NewAccountOn(t, l, e.File+"@example.org", book.Terms{})
			secret := must(sender.Set(t.Context(), account, proxy.URL+"/hook"))(t)
			newer := must(sender.Rotate(t.Context(), account))(t)
			target := runReceiver(t, e, secret)
			receiver := must(url.Parse(target))(t)
			proxy.Config.Handler = httputil.NewSingleHostReverseProxy(receiver)
			delivery := must(sender.Test(t.Context(), account))(t)
			require.True(t, delivery.Delivered, delivery.Status)

			const body = `{"type":"usage.80","data":{"text":"é"}}`
			now := time.Now()
			for name, c := range map[string]struct {
				secret      string
				at          time.Time
				sent        string
				header, has string // replaces a header
				want        int
			}{
				"good":           {secret, now, body, "", "", http.StatusNoContent},
				"another body":   {secret, now, body + " ", "", "", http.StatusUnauthorized},
				"another secret": {newer, now, body, "", "", http.StatusUnauthorized},
				"too old":        {secret, now.Add(-time.Hour), body, "", "", http.StatusUnauthorized},
				"another id":     {secret, now, body, "Webhook-Id", "msg_2", http.StatusUnauthorized},
				"another time":   {secret, now, body, "Webhook-Timestamp", strconv.FormatInt(now.Unix()+1, 10), http.StatusUnauthorized},
				"no signature":   {secret, now, body, "Webhook-Signature", "", http.StatusUnauthorized},
			} {
				header := signed(t, c.secret, "msg_1", c.at, body)
				if c.header != "" {
					header.Set(c.header, c.has)
				}
				response, _ := post(t, target, header, c.sent)
				require.Equal(t, c.want, response.StatusCode, name)
			}
		})
	}
}

func runReceiver(t *testing.T, e docs.Example, secret string) (target string) {
	t.Helper()
	address := must(origintest.FreeAddress())(t)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	cmd := example(t, e, "", "")
	if filepath.Base(e.File) == "main.go" { // "go run" does not pass on the end of the test
		build := exec.Command("go", "build", "-o", "receiver", "main.go")
		build.Dir = cmd.Dir
		out, err := build.CombinedOutput()
		require.NoError(t, err, "%s", out)
		program := exec.Command(filepath.Join(cmd.Dir, "receiver"))
		program.Env = cmd.Env
		cmd = program
	}
	cmd.Env = append(cmd.Env, "PORT="+port, "WEBHOOK_SECRET="+secret)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	awaitListener(t, address, e.File)
	return "http://" + address + "/"
}

func startHook(t *testing.T, hook anyObject) *instance {
	leftToCI(t)
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, hook))
	s.newKey(t)
	return s
}

func hookExample(t *testing.T, file string, env ...string) *exec.Cmd {
	t.Helper()
	const directory = "../signuphook/examples"
	if _, err := os.Stat(filepath.Join(directory, "node_modules", "better-auth")); err != nil {
		t.Skip("skipped: the packages of the examples are missing; npm ci --prefix origin/" + directory)
	}
	cmd := exec.Command(moduletest.Tool(t, "node"), file)
	cmd.Dir, cmd.Env = directory, append(os.Environ(), env...)
	return cmd
}

func runLines(t *testing.T, cmd *exec.Cmd, input ...any) (output []string) {
	t.Helper()
	var in bytes.Buffer
	for _, line := range input {
		require.NoError(t, json.NewEncoder(&in).Encode(line))
	}
	cmd.Stdin, cmd.Stderr = &in, logIfFailed(t)
	out := must(cmd.Output())(t)
	output = strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, output, len(input))
	return output
}

// A real better-auth server with the plugin creates users and refuses them as the hook
// decides. The plugin's own choice decides if the service cannot be reached or the secret is not
// the hook's.
func TestBetterAuthExample(t *testing.T) {
	s := startHook(t, anyObject{"messages": anyObject{"de": anyObject{"disposable": "Bitte keine Wegwerf-Adresse."}}})
	for _, c := range []struct {
		hostPort, secret, onError, email string
		status                           int
		text                             string
	}{
		{s.hostPort, hookSecret, "deny", "jane@mail.example", 200, `"email":"jane@mail.example"`},
		{s.hostPort, hookSecret, "deny", "jane@mailinator.com", 422, "Bitte keine Wegwerf-Adresse."},
		{s.hostPort, hookSecret, "deny", "jane@none.example", 422, "may not receive mail"},
		{s.hostPort, newHookSecret, "allow", "jane@mail.example", 200, `"email":"jane@mail.example"`},
		{s.hostPort, newHookSecret, "deny", "jane@mail.example", 422, ""},
		{"127.0.0.1:1", hookSecret, "allow", "jane@mail.example", 200, `"email":"jane@mail.example"`},
		{"127.0.0.1:1", hookSecret, "deny", "jane@mail.example", 422, ""},
	} {
		cmd := hookExample(t, "better-auth/server.js", "BETTER_AUTH_SECRET=a secret of a test with 32 bytes",
			"HOOK_URL=http://"+c.hostPort+"/v1/hooks/signup", "HOOK_SECRET="+c.secret, "HOOK_ON_ERROR="+c.onError)
		out := must(cmd.StdoutPipe())(t)
		log := new(origintest.Log)
		cmd.Stderr = log
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		line, err := origintest.FirstLine(out)
		require.NoError(t, err, log)
		address := must(origintest.AddressIn(line))(t)
		response, text := post(t, "http://"+address+"/api/auth/sign-up/email", http.Header{"Content-Type": {"application/json"},
			"Origin": {"http://127.0.0.1"}, "Accept-Language": {"de-AT,de;q=0.9,en;q=0.5"}},
			`{"name":"Jane","email":"`+c.email+`","password":"correct horse battery"}`)
		require.Equal(t, c.status, response.StatusCode, text)
		require.Contains(t, text, c.text)
		require.NotContains(t, log.String(), "@", "an address is in the log of the example")
	}
	require.EqualValues(t, 3, s.used(t))
}

// The Action of Auth0 denies what the hook denies.
func TestAuth0Example(t *testing.T) {
	s := startHook(t, anyObject{})
	event := func(email, host, secret string) any {
		return anyObject{"user": anyObject{"email": email}, "request": anyObject{"language": "en"},
			"secrets": anyObject{"ADDRSPEC_HOOK_URL": "http://" + host + "/v1/hooks/signup", "ADDRSPEC_HOOK_SECRET": secret}}
	}
	const unreachable = `{"reason":"addrspec: unreachable",` +
		`"userMessage":"Your email address could not be checked. Please try again shortly."}`
	require.Equal(t, []string{"null",
		`{"reason":"addrspec: disposable","userMessage":"Please use a permanent email address."}`, "null", unreachable, unreachable,
	}, runLines(t, hookExample(t, "auth0/run.cjs"),
		event("jane@mail.example", s.hostPort, hookSecret), event("jane@mailinator.com", s.hostPort, hookSecret), event("", s.hostPort, hookSecret),
		event("jane@mail.example", s.hostPort, newHookSecret), event("jane@mail.example", "127.0.0.1:1", hookSecret)))
	require.EqualValues(t, 2, s.used(t))
}

// supabaseBody is what Supabase Auth sends, as its documentation shows it.
func supabaseBody(uuid, email, metadata string) string {
	return `{"metadata":{"uuid":"` + uuid + `","time":"2026-11-23T01:13:24.755552Z","name":"before-user-created","ip_address":"192.0.2.1"},` +
		`"user":{"id":"ff7fc9ae-3b1b-4642-9241-64adb9848a03","aud":"authenticated","role":"","email":"` + email + `","phone":"",` +
		`"app_metadata":{"provider":"email","providers":["email"]},"user_metadata":` + metadata + `,"identities":[],` +
		`"created_at":"0001-01-01T00:00:00Z","updated_at":"0001-01-01T00:00:00Z","is_anonymous":false}}`
}

// A hook for Supabase reads its requests, signed by the library standardwebhooks of
// npm, and denies by 200 with an error. Supabase sends a new webhook-id for each
// attempt, and joins the signatures of two secrets by ", ".
func TestSupabaseHook(t *testing.T) {
	s := startHook(t, anyObject{"format": "supabase", "no_email": "deny"})
	const denied, uuid = `{"error":{"http_code":403,"message":`, "8b34dcdd-9df1-4c10-850a-b3277c65304"
	at := time.Now().Unix()
	for _, c := range []struct{ id, body, want string }{
		{"ec5dd9d3-5d07-4a24-a5b0-7d0f2f3d9d0a", supabaseBody(uuid+"0", "jane@mail.example", "{}"), "{}"},
		{"0b4b5f0e-9f10-4c59-8f5e-4a1d5c0f6a0b", supabaseBody(uuid+"0", "jane@mail.example", "{}"), "{}"},
		{"msg_1", supabaseBody(uuid+"1", "jane@mailinator.com", `{"locale":"en"}`), denied + `"Please use a permanent email address."}}`},
		{"msg_2", supabaseBody(uuid+"2", "", `{"locale":5,"language":{}}`), denied + `"Please sign up with an email address."}}`},
		{"msg_3", supabaseBody(uuid+"3", "jane..doe@mail.example", `null`), denied + `"This is not a valid email address. Please check it."}}`},
	} {
		line := func(secret string) any { return anyObject{"secret": secret, "id": c.id, "at": at, "body": c.body} }
		signatures := runLines(t, hookExample(t, "sign.js"), line(hookSecret), line(newHookSecret))
		for signature, status := range map[string]int{signatures[0]: 200, signatures[0] + ", " + signatures[1]: 200,
			signatures[1] + ", " + signatures[0]: 200, signatures[1]: 401} {
			response, text := s.callHook(t, "signup", hookSecret, c.id, c.body, http.Header{
				"Webhook-Timestamp": {strconv.FormatInt(at, 10)}, "Webhook-Signature": {signature}})
			require.Equal(t, status, response.StatusCode, text)
			require.Equal(t, "application/json", response.Header.Get("Content-Type"))
			require.True(t, status != 200 || text == c.want, text)
		}
	}
	require.EqualValues(t, 2, s.used(t))
}
