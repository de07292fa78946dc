package command

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

func (s *instance) checkThrough(key, in string, args ...string) (out, err string, code int) {
	args = append([]string{"check", "--server", "http://" + s.hostPort}, args...)
	if key != "" {
		args = append(args, "--key", key)
	}
	return runOn(context.Background(), strings.NewReader(in), args...)
}

// Each batch costs its different addresses. A run that is repeated with its id
// costs nothing.
func TestCheckThroughAServiceIsCharged(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	key := s.newKey(t)
	list := strings.Repeat("a@mail.example\nb@mail.example\n", 32) + listOf(500)
	for _, c := range []struct {
		flags string
		used  int64
	}{{"--run-id 0123456789abcdef", 502}, {"--run-id 0123456789abcdef", 502}, {"", 2 * 502}} {
		out, problem, code := s.checkThrough(key, list, strings.Fields(c.flags)...)
		require.Zero(t, code, problem)
		require.Equal(t, 564, strings.Count(out, "\n"))
		require.EqualValues(t, c.used, s.used(t), "another run has another id")
		require.NotContains(t, problem, "at most", "the number of addresses is not known")
	}
	_, problem, _ := s.checkThrough(key, "", "a@mail.example")
	require.Contains(t, problem, "1 point at most; the account has no limit.\n")
}

// A run that is interrupted while a batch waits ends after those before. It goes on with the
// Idempotency-Keys and the policy that its message names, and no address is charged twice.
func TestCheckThroughAServiceIsInterrupted(t *testing.T) {
	t.Parallel()
	server, out := mxtest.New(t, contract.Zone), new(origintest.Log)
	s := start(t, "--dns", server.Addr, "--dns-timeout", "1m", "--batch-timeout", "1m")
	_, account := s.limitedKey(t, book.Unlimited)
	key := s.policyKey(t, account, "sign-up", `{"block": {"domains": ["spam.example"]}}`)
	ctx, interrupt := context.WithCancel(t.Context())
	server.Respond("silent.example", func(dns.ResponseWriter, *dns.Msg) {
		for !out.Contains("user63@") && ctx.Err() == nil {
			time.Sleep(time.Millisecond) // real time: waits for the batch before
		}
		interrupt()
	})
	var problem strings.Builder
	args := []string{"check", "--server", "http://" + s.hostPort, "--key", key, fileOf(t, "list.txt", listOf(64)+"a@silent.example\n")}
	require.Equal(t, exitInterrupted, run(ctx, args, streams{nil, out, &problem}))
	hint := regexp.MustCompile(`interrupted: 64 records written; go on with (--resume 64 --run-id [A-Z0-9]{26} --policy sign-up), ` +
		`and append to the output so far with >>\n`).FindStringSubmatch(problem.String())
	require.NotNil(t, hint, problem.String())
	server.Respond("silent.example", mxtest.Answer)
	rest, again, code := operator(t, append(args, strings.Fields(hint[1])...)...)
	require.Zero(t, code, again)
	require.Equal(t, 1, strings.Count(rest, "\n"))
	require.EqualValues(t, 65, s.used(t))
}

// A wrong command line ends with 2, a service that refuses or a policy that cannot decide with 1.
// No message has the key, and neither costs anything. Package client tests other URLs.
func TestCheckThroughAServiceRefusals(t *testing.T) {
	s := start(t, "--dns", contract.Serve(t))
	unknown, valid := book.NewSecret(), s.newKey(t)
	file, broken := fileOf(t, "key", valid+"\n"), fileOf(t, "broken", unknown[:30])
	policy := fileOf(t, "policy.json", `{"block": {"reasons": ["disposible"]}}`)
	for _, c := range []struct {
		key, flags string
		code       int
		message    string
	}{
		{"", "", 2, "set ADDRSPEC_KEY, or give --key-file"},
		{unknown, "", 1, "INVALID_API_KEY: This API key is not valid"},
		{"", "--key-file " + broken, 2, "--key-file is not an API key"},
		{"", "--key " + unknown + " --key-file " + file, 2, "both --key and --key-file"},
		{"", "--key-file " + file, 0, ""},
		{unknown, "--key-file " + file, 0, ""}, // the file goes first
		{unknown, "--run-id 1", 2, "--run-id must have"},
		{unknown, "--server http://" + s.hostPort + "/docs", 1, "status 404"},
		{valid, "--policy no-such", 1, "400 INVALID_REQUEST: The account has no policy"},
		{valid, "--policy " + policy, 1, policy + `:1:24: block.reasons[0]: "disposible"`},
		{valid, "--fail-on block", 2, "give --policy; the key has none by default"},
	} {
		t.Setenv("ADDRSPEC_KEY", c.key)
		output := filepath.Join(t.TempDir(), "out.csv")
		_, problem, code := s.checkThrough("", "jane@mail.example", append(strings.Fields(c.flags), "-o", output)...)
		require.Equal(t, c.code, code, problem)
		if code != 0 {
			require.NoFileExists(t, output)
		}
		require.Contains(t, problem, c.message)
		require.NotContains(t, problem, unknown[:16])
	}
	require.EqualValues(t, 2, s.used(t), "of the two runs that were not refused")
}

// The proxy of the environment is used. It sees the path of no address.
func TestCheckThroughAProxy(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 9)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Method + " " + r.RequestURI
		w.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	cmd := program("check", "--server", "http://addrspec.example")
	cmd.Env = append(cmd.Env, "HTTP_PROXY="+proxy.URL, "ADDRSPEC_KEY="+book.NewSecret())
	cmd.Stdin = strings.NewReader("jane@mail.example\n")
	text, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(text), "addrspec: warning: --server is http, so others on the network can read the key")
	require.Contains(t, string(text), "the service refused the request with status 403")
	require.Equal(t, "GET http://addrspec.example/v1/usage", <-seen)
	require.Empty(t, seen)
}

// The same file gives the same columns and rows in this process and through a service.
// Package browser compares the page Lists.
func TestCheckHasOneLayout(t *testing.T) {
	t.Parallel()
	dns := contract.Serve(t)
	s := start(t, "--dns", dns)
	key := s.newKey(t)
	for _, list := range origintest.Lists(t, "../check/input/testdata/crossing.json") {
		file := fileOf(t, list.File, string(list.Content))
		local, problem, code := runCheck(t, nil, file, "--to", "csv", "--offline=false", "--dns", dns)
		require.Contains(t, []int{0, 1}, code, problem)
		through, problem, again := s.checkThrough(key, "", file, "--to", "csv")
		require.Equal(t, code, again, problem)
		require.Equal(t, local, through, list.Name)
	}
}

// A policy of the account by its name, a key's default policy, and the same document in a file
// give the same bytes in each format, also where the file decides about the results of a
// service, and the same counts.
func TestCheckHasTheVerdictsOfTheService(t *testing.T) {
	t.Parallel()
	const document = `{"block": {"domains": ["no-mx.example", "xn--bcher-kva.example"], "reasons": ["disposable", "no_mail"]}, "review": {"reasons": ["no_mx", "role:hr", "gibberish>=0.8", "quoted"]}}`
	dns := contract.Serve(t)
	s := start(t, "--dns", dns)
	_, account := s.limitedKey(t, book.Unlimited)
	signUp := s.policyKey(t, account, "sign-up", document)
	other := s.policyKey(t, account, "other", `{"block": {"domains": ["mail.example"]}}`)
	policy := "--policy " + fileOf(t, "policy.json", document)
	list := fileOf(t, "list.csv", "email\njane@mail.example\nhr@mail.example\na..b@mail.example\njane@mailinator.com\njane@missing.example\njane@servfail.example\njane@[192.0.2.1]\n"+
		"jörg@bücher.example\nxkqjzvwqp@mail.example\n\"\"\"a b\"\"@mail.example\"\njane@address.example\n\n")
	for _, format := range []string{"--to csv", "--to ndjson --details --keep"} {
		flags := format + " --summary json --fail-on block " + list
		const counts = `"allow":1,.*"block":4,.*"review":5,`
		local, summary, code := runCheck(t, nil, strings.Fields(flags+" --offline=false --dns "+dns+" "+policy)...)
		require.Equal(t, exitVerdict, code, summary)
		require.Regexp(t, counts, summary)
		for _, c := range []struct{ key, policy string }{{signUp, ""}, {other, "--policy sign-up"}, {other, policy}} {
			through, problem, code := s.checkThrough(c.key, "", strings.Fields(flags+" "+c.policy)...)
			require.Equal(t, exitVerdict, code, problem)
			require.Equal(t, local, through, c.policy)
			require.Regexp(t, counts, problem, c.policy)
		}
	}
}
