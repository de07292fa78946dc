package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// checkThrough runs `addrspec check --server` on input.
func (s *instance) checkThrough(t testing.TB, key, in string, args ...string) (out, err string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args = append([]string{"check", "--server", "http://" + s.hostPort}, args...)
	if key != "" {
		args = append(args, "--key", key)
	}
	code = run(context.Background(), args, streams{strings.NewReader(in), &stdout, &stderr})
	return stdout.String(), stderr.String(), code
}

// listOf returns a list of different addresses, a line each.
func listOf(count int) string {
	var list strings.Builder
	for n := range count {
		fmt.Fprintf(&list, "user%d@mail.example\n", n)
	}
	return list.String()
}

// A line is the service's own result, byte for byte, with mx and with item errors.
func TestCheckThroughAService(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t), "--dns-timeout", "3s")
	key := s.newKey(t)
	emails := []string{"jane+news@mail.example", "a..b@mail.example", "x@nowhere.example", `"<&>"@mail.example`, "jörg@bücher.example", "support@servfail.example"}
	for _, details := range []string{"false", "true"} {
		body, _ := json.Marshal(map[string]any{"emails": emails, "details": details == "true"})
		_, text := s.send(t, http.MethodPost, "/v1/emails", key, string(body), nil)
		var want struct {
			Results []struct{ Result json.RawMessage }
		}
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		out, problem, code := s.checkThrough(t, key, strings.Join(emails, "\n"), "--details="+details)
		require.Zero(t, code, problem)
		lines := strings.Split(out, "\n")
		for n := range emails[:5] {
			require.Equal(t, string(want.Results[n].Result), lines[n])
		}
		require.Equal(t, `{"email":"support@servfail.example","error":{"code":"DNS_FAILURE","message":"DNS lookup failed for domain servfail.example"}}`, lines[5])
	}
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
	_, _, code := s.checkThrough(t, key, list)
	require.Zero(t, code)
	require.EqualValues(t, 2*(2+500), s.used(t), "another run has another id")
}

// When the points are used up, the run ends after whole batches. Batches are sent one at a
// time then, so no batch after the refused one is sent, though a short one would be
// affordable; but the short one may have been the first of two that were ready.
func TestCheckThroughAServiceOutOfPoints(t *testing.T) {
	t.Parallel()
	for _, addresses := range []int{2000, 8*64 + 10} {
		s := start(t, "--dns", contract.Serve(t))
		key, _ := s.limitedKey(t, 500)
		out, problem, code := s.checkThrough(t, key, listOf(addresses))
		require.Equal(t, 1, code)
		left := 500 - s.used(t)
		require.Contains(t, problem, fmt.Sprintf("too few usage points are left this month: %d, and the next batch needs 64; they refill on 1 ", left))
		require.Equal(t, 448, strings.Count(out, "\n"))
		require.True(t, left == 52 || addresses < 2000 && left == 42, left)
		require.Regexp(t, `448 records written; to go on, .*--resume 448 .*--run-id [A-Z0-9]{26}`, problem)
	}
}

// A free key gets one request a second: no address is lost or refused.
func TestCheckThroughAServiceKeepsTheRate(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	key := s.otherKey(t)
	begin := time.Now()
	out, problem, code := s.checkThrough(t, key, listOf(256))
	require.Zero(t, code, problem)
	require.Equal(t, 256, strings.Count(out, "\n"))
	require.GreaterOrEqual(t, time.Since(begin), 3*time.Second) // real time: the rate is of real seconds, and a slow machine takes longer
}

// The service is killed and started again in the middle, several times: each
// address is checked and charged once.
func TestCheckThroughAServiceThatIsKilled(t *testing.T) {
	t.Parallel()
	address, err := origintest.FreeAddress()
	require.NoError(t, err)
	dns := contract.Serve(t)
	p := launch(t, nil, "--listen", address, "--dns", dns)
	key := p.unlimitedKey(t)
	lines, feed := io.Pipe()
	killed := make(chan int, 1)
	rows := shorter(4000, 2000)
	go func() {
		defer feed.Close()
		kills := 0
		for n := range rows {
			if n%1000 == 700 {
				p.Kill()
				kills++
				p.relaunch(t, address, dns)
			}
			fmt.Fprintf(feed, "user%d@mail.example\n", n)
		}
		killed <- kills
	}()
	var out, problem bytes.Buffer
	code := run(context.Background(), []string{"check", "--server", "http://" + address, "--key", key, "-"}, streams{lines, &out, &problem})
	require.Zero(t, code, problem.String())
	require.Equal(t, rows/1000, <-killed)
	n := 0
	for line := range strings.Lines(out.String()) {
		require.True(t, strings.HasPrefix(line, fmt.Sprintf(`{"email":"user%d@mail.example","valid":true,`, n)), line)
		n++
	}
	require.Equal(t, rows, n)
	require.EqualValues(t, rows, ledgertest.Used(t, ledgertest.Open(t, p.database), "a@example.org"))
}

// relaunch starts a killed process again, at the same address and on the same
// database. It may run outside the test's goroutine.
func (p *process) relaunch(t *testing.T, address, dns string) {
	cmd := exec.Command(os.Args[0], origintest.ServeArgs(t, p.database, "--dns", dns, "--listen", address)...)
	cmd.Env = append(os.Environ(), programVariable+"=1")
	cmd.Stderr = p.log
	next, err := origintest.Start(cmd, origintest.OnStdout)
	if err != nil {
		t.Error(err, p.log)
		return
	}
	t.Cleanup(next.Kill)
	p.Process = next
}

// A signal ends the check at once, also while the service does not respond.
func TestCheckThroughAServiceEndsAtASignal(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		conn, err := silent.Accept()
		cancel()
		if err == nil {
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	code := run(ctx, []string{"check", "--server", "http://" + silent.Addr().String(), "--key", book.NewSecret()}, streams{strings.NewReader(listOf(9)), io.Discard, io.Discard})
	require.Equal(t, 1, code)
}

// A run that is interrupted and repeated with its id is charged once, for every
// address, whatever was in progress.
func TestCheckThroughAServiceInterrupted(t *testing.T) {
	t.Parallel()
	const addresses = 3000
	s := start(t, "--dns", contract.Serve(t))
	key := s.newKey(t)
	file := filepath.Join(t.TempDir(), "list.txt")
	require.NoError(t, os.WriteFile(file, []byte(listOf(addresses)), 0o600))
	interrupted, code := 0, 1
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		before := s.used(t)
		go func() { // cancels once the run has charged something
			for ctx.Err() == nil && ledgertest.Used(t, s.ledger, testAccount) == before {
				time.Sleep(time.Millisecond) // real time: the pause of a poll
			}
			cancel()
		}()
		code = run(ctx, []string{"check", "--server", "http://" + s.hostPort, "--run-id", "0123456789abcdef", "--key", key, file}, streams{nil, io.Discard, io.Discard})
		cancel()
		if code == 0 {
			break
		}
		interrupted++
	}
	if code != 0 {
		_, problem, last := s.checkThrough(t, key, "", "--run-id", "0123456789abcdef", file)
		require.Zero(t, last, problem)
	}
	require.NotZero(t, interrupted)
	require.EqualValues(t, addresses, s.used(t))
}

// A wrong command line ends with 2, a service that refuses with 1. No message has
// the key.
func TestCheckThroughAServiceRefusals(t *testing.T) {
	s := start(t, "--dns", contract.Serve(t))
	dir, unknown := t.TempDir(), book.NewSecret()
	file := filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(file, []byte(s.newKey(t)+"\n"), 0o600))
	broken := filepath.Join(dir, "broken")
	require.NoError(t, os.WriteFile(broken, []byte(unknown[:30]), 0o600))
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("ADDRSPEC_KEY", c.key)
			_, problem, code := s.checkThrough(t, "", "jane@mail.example", c.args...)
			require.Equal(t, c.code, code, problem)
			require.Contains(t, problem, c.message)
			require.NotContains(t, problem, unknown[:16])
		})
	}
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

// Before a run, what it costs and what is left is said.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	left := int64(1234)
	r := &remote{}
	r.usage.Points.Remaining, r.usage.Points.Refill = &left, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for addresses, want := range map[int64]string{
		-1:   "One point for each different address of a batch; 1,234 left until 1 December 2026.\n",
		1:    "1 point at most; 1,234 left until 1 December 2026.\n",
		1234: "1,234 points at most; 1,234 left until 1 December 2026.\n",
		5000: "5,000 points at most; 1,234 left until 1 December 2026.\nThat may not be enough: the run ends when no points are left for a batch.\n",
	} {
		var out strings.Builder
		r.announce(&out, addresses)
		require.Equal(t, want, out.String())
	}
	r.usage.Points.Remaining = nil
	var out strings.Builder
	r.announce(&out, 5000)
	require.Equal(t, "5,000 points at most; the account has no limit.\n", out.String())
}
