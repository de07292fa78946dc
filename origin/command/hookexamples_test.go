package command

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

const hookExamples = "../signuphook/examples"

func hookExample(t *testing.T, file string, env ...string) *exec.Cmd {
	t.Helper()
	leftToCI(t)
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("skipped: Node is not installed")
	}
	if _, err := os.Stat(filepath.Join(hookExamples, "node_modules", "better-auth")); err != nil {
		t.Skip("skipped: the packages of the examples are missing; npm ci --prefix origin/" + hookExamples)
	}
	cmd := exec.Command("node", file)
	cmd.Dir, cmd.Env = hookExamples, append(os.Environ(), env...)
	return cmd
}

// runLines runs a program that responds to each line of its input with one.
func runLines(t *testing.T, cmd *exec.Cmd, input ...any) (output []string) {
	t.Helper()
	var in, out, errors bytes.Buffer
	for _, line := range input {
		require.NoError(t, json.NewEncoder(&in).Encode(line))
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &errors
	require.NoError(t, cmd.Run(), errors.String())
	output = strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, output, len(input))
	return output
}

// A real better-auth server with the plugin creates users and refuses them as the hook
// decides. The plugin's own choice decides if the service cannot be reached or the secret is not
// the hook's.
func TestBetterAuthExample(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{
		"messages": anyObject{"de": anyObject{"disposable": "Bitte keine Wegwerf-Adresse."}}}))
	s.newKey(t)
	type signUp struct {
		email  string
		status int
		text   string
	}
	allowed := signUp{"jane@mail.example", http.StatusOK, `"email":"jane@mail.example"`}
	denied := signUp{"jane@mail.example", http.StatusUnprocessableEntity, ""}
	for _, c := range []struct {
		hostPort, secret, onError string
		signUps                   []signUp
	}{
		{s.hostPort, hookSecret, "deny", []signUp{allowed,
			{"jane@mailinator.com", http.StatusUnprocessableEntity, "Bitte keine Wegwerf-Adresse."},
			{"jane@none.example", http.StatusUnprocessableEntity, "may not receive mail"}}},
		{s.hostPort, newHookSecret, "allow", []signUp{allowed}},
		{s.hostPort, newHookSecret, "deny", []signUp{denied}},
		{"127.0.0.1:1", hookSecret, "allow", []signUp{allowed}},
		{"127.0.0.1:1", hookSecret, "deny", []signUp{denied}},
	} {
		send := startBetterAuth(t, "HOOK_URL=http://"+c.hostPort+"/v1/hooks/signup", "HOOK_SECRET="+c.secret, "HOOK_ON_ERROR="+c.onError)
		for _, want := range c.signUps {
			status, body := send(want.email)
			require.Equal(t, want.status, status, body)
			require.Contains(t, body, want.text)
		}
	}
	require.EqualValues(t, 3, s.used(t))
}

// startBetterAuth runs the server until the test ends, and returns a function that
// signs a user up.
func startBetterAuth(t *testing.T, env ...string) (signUp func(email string) (int, string)) {
	cmd := hookExample(t, "better-auth/server.js", append(env, "BETTER_AUTH_SECRET=a secret of a test with 32 bytes")...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	log := new(origintest.Log)
	cmd.Stderr = log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := origintest.FirstLine(out)
	require.NoError(t, err, log)
	address, err := origintest.AddressIn(line)
	require.NoError(t, err, line)
	return func(email string) (int, string) {
		body, err := json.Marshal(map[string]string{"name": "Jane", "email": email, "password": "correct horse battery"})
		require.NoError(t, err)
		header := http.Header{"Content-Type": {"application/json"}, "Origin": {"http://127.0.0.1"},
			"Accept-Language": {"de-AT,de;q=0.9,en;q=0.5"}}
		response, text := post(t, "http://"+address+"/api/auth/sign-up/email", header, string(body))
		require.NotContains(t, log.String(), "@", "an address is in the log of the example")
		return response.StatusCode, text
	}
}

// The Action of Auth0 denies what the hook denies.
func TestAuth0Example(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{}))
	s.newKey(t)
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
	leftToCI(t)
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{"format": "supabase", "no_email": "deny"}))
	s.newKey(t)
	const denied = `{"error":{"http_code":403,"message":`
	at := time.Now().Unix()
	uuid := func(n int) string { return "8b34dcdd-9df1-4c10-850a-b3277c65304" + strconv.Itoa(n) }
	for _, c := range []struct{ id, body, want string }{
		{"ec5dd9d3-5d07-4a24-a5b0-7d0f2f3d9d0a", supabaseBody(uuid(0), "jane@mail.example", "{}"), "{}"},
		{"0b4b5f0e-9f10-4c59-8f5e-4a1d5c0f6a0b", supabaseBody(uuid(0), "jane@mail.example", "{}"), "{}"},
		{"msg_1", supabaseBody(uuid(1), "jane@mailinator.com", `{"locale":"en"}`), denied + `"Please use a permanent email address."}}`},
		{"msg_2", supabaseBody(uuid(2), "", `{"locale":5,"language":{}}`), denied + `"Please sign up with an email address."}}`},
		{"msg_3", supabaseBody(uuid(3), "jane..doe@mail.example", `null`), denied + `"This is not a valid email address. Please check it."}}`},
	} {
		line := func(secret string) any { return anyObject{"secret": secret, "id": c.id, "at": at, "body": c.body} }
		signatures := runLines(t, hookExample(t, "sign.js"), line(hookSecret), line(newHookSecret))
		for _, signature := range []string{signatures[0], strings.Join(signatures, ", "), signatures[1] + ", " + signatures[0]} {
			response, resp := s.callHook(t, signedCall{hook: "signup", id: c.id, body: c.body, header: http.Header{
				"Webhook-Timestamp": {strconv.FormatInt(at, 10)}, "Webhook-Signature": {signature}}})
			require.Equal(t, http.StatusOK, response.StatusCode, resp)
			require.Equal(t, c.want, resp)
			require.Equal(t, "application/json", response.Header.Get("Content-Type"))
		}
		response, resp := s.callHook(t, signedCall{hook: "signup", id: c.id, body: c.body, header: http.Header{
			"Webhook-Timestamp": {strconv.FormatInt(at, 10)}, "Webhook-Signature": {signatures[1]}}})
		require.Equal(t, http.StatusUnauthorized, response.StatusCode, resp)
	}
	require.EqualValues(t, 2, s.used(t))
}
