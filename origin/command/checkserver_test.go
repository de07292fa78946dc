package command

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
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

// checkThrough runs `addrspec check --server` on input.
func (s *instance) checkThrough(_ testing.TB, key, in string, args ...string) (out, err string, code int) {
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
	for range 2 {
		out, problem, code := s.checkThrough(t, key, list, "--run-id", "0123456789abcdef")
		require.Zero(t, code, problem)
		require.Equal(t, 564, strings.Count(out, "\n"))
		require.EqualValues(t, 2+500, s.used(t))
	}
	_, problem, _ := s.checkThrough(t, key, list)
	require.EqualValues(t, 2*(2+500), s.used(t), "another run has another id")
	require.NotContains(t, problem, "at most", "the number of addresses is not known")
	_, problem, _ = s.checkThrough(t, key, "", "a@mail.example")
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
	file := fileOf(t, "list.txt", listOf(64)+"a@silent.example\n")
	ctx, interrupt := context.WithCancel(t.Context())
	server.Respond("silent.example", func(dns.ResponseWriter, *dns.Msg) {
		for !out.Contains("user63@") && ctx.Err() == nil {
			time.Sleep(time.Millisecond) // real time: waits for the batch before
		}
		interrupt()
	})
	var problem strings.Builder
	args := []string{"check", "--server", "http://" + s.hostPort, "--key", key, file}
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

// The service is killed and started again in the middle, several times: each
// address is checked and charged once.
func TestCheckThroughAServiceThatIsKilled(t *testing.T) {
	t.Parallel()
	address, err := origintest.FreeAddress()
	require.NoError(t, err)
	flags := []string{"--listen", address, "--dns", contract.Serve(t)}
	p := launch(t, nil, flags...)
	key, rows := p.newKey(t), shorter(4000, 2000)
	lines, feed := io.Pipe()
	var out, problem string
	var code int
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		out, problem, code = runOn(context.Background(), lines, "check", "--server", "http://"+address, "--key", key, "-")
		lines.Close()
	}()
	for n := range rows {
		if n%1000 == 700 {
			p.Kill()
			p = launchOn(t, p.database, nil, flags...)
		}
		fmt.Fprintf(feed, "user%d@mail.example\n", n)
	}
	feed.Close()
	<-ended
	require.Zero(t, code, problem)
	n := 0
	for line := range strings.Lines(out) {
		require.True(t, strings.HasPrefix(line, fmt.Sprintf(`{"email":"user%d@mail.example","valid":true,`, n)), line)
		n++
	}
	require.Equal(t, rows, n)
	require.EqualValues(t, rows, p.used(t))
}

// A wrong command line ends with 2, a service that refuses or a policy that cannot decide with 1.
// No message has the key, and neither costs anything.
func TestCheckThroughAServiceRefusals(t *testing.T) {
	s := start(t, "--dns", contract.Serve(t))
	dir, unknown, valid := t.TempDir(), book.NewSecret(), s.newKey(t)
	file := filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(file, []byte(valid+"\n"), 0o600))
	broken := filepath.Join(dir, "broken")
	require.NoError(t, os.WriteFile(broken, []byte(unknown[:30]), 0o600))
	policy := fileOf(t, "policy.json", `{"block": {"reasons": ["disposible"]}}`)
	for name, c := range map[string]struct {
		key     string
		args    []string
		code    int
		message string
	}{
		"no key":              {"", nil, 2, "set ADDRSPEC_KEY, or give --key-file"},
		"unknown key":         {unknown, nil, 1, "INVALID_API_KEY: This API key is not valid"},
		"mistyped key":        {unknown[:20], nil, 2, "is not an API key"},
		"mistyped key file":   {"", []string{"--key-file", broken}, 2, "--key-file is not an API key"},
		"no key file":         {"", []string{"--key-file", dir + "/none"}, 1, "no such file"},
		"two keys":            {"", []string{"--key", unknown, "--key-file", file}, 2, "both --key and --key-file"},
		"key file":            {"", []string{"--key-file", file}, 0, ""},
		"key file goes first": {unknown, []string{"--key-file", file}, 0, ""},
		"offline":             {unknown, []string{"--offline"}, 2, "exclude each other"},
		"short run id":        {unknown, []string{"--run-id", "1"}, 2, "--run-id must have"},
		"not a URL":           {unknown, []string{"--server", "addrspec.example"}, 2, "must begin with https://"},
		"not the service":     {unknown, []string{"--server", "http://" + s.hostPort + "/docs"}, 1, "status 404"},
		"a web page":          {unknown, []string{"--server", "http://" + s.hostPort + "/openapi.json?"}, 2, "has a user name, a query"},
		"unknown policy":      {valid, []string{"--policy", "no-such"}, 1, "400 INVALID_REQUEST: The account has no policy"},
		"no policy's name":    {valid, []string{"--policy", "No.Such"}, 1, "--policy: open No.Such: no such file"},
		"wrong policy":        {valid, []string{"--policy", policy}, 1, policy + `:1:24: block.reasons[0]: "disposible"`},
		"no policy":           {valid, []string{"--fail-on", "block"}, 2, "give --policy; the key has none by default"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("ADDRSPEC_KEY", c.key)
			output := filepath.Join(t.TempDir(), "out.csv")
			_, problem, code := s.checkThrough(t, "", "jane@mail.example", append(c.args, "-o", output)...)
			require.Equal(t, c.code, code, problem)
			if code != 0 {
				require.NoFileExists(t, output)
			}
			require.Contains(t, problem, c.message)
			require.NotContains(t, problem, unknown[:16])
		})
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
	cmd := exec.Command(os.Args[0], "check", "--server", "http://addrspec.example")
	cmd.Env = append(os.Environ(), programVariable+"=1", "HTTP_PROXY="+proxy.URL, "ADDRSPEC_KEY="+book.NewSecret())
	cmd.Stdin = strings.NewReader("jane@mail.example\n")
	text, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(text), "addrspec: warning: --server is http, so others on the network can read the key")
	require.Contains(t, string(text), "the service refused the request with status 403")
	require.Equal(t, "GET http://addrspec.example/v1/usage", <-seen)
	require.Empty(t, seen)
}
