package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// A test that needs the program in a process of its own starts its own binary
// again with this variable set; TestMain then runs main instead of the tests.
const programVariable = "ADDRSPEC_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		os.Unsetenv(programVariable)
		main()
	}
	os.Exit(m.Run())
}

// A process is a service in a process of its own.
type process struct {
	*service
	cmd *exec.Cmd
}

// launch starts the service with its log on stderr; a nil stderr is s.log.
func launch(t *testing.T, stderr *os.File, args ...string) *process {
	t.Helper()
	p := &process{service: &service{database: "sqlite:" + filepath.Join(t.TempDir(), "addrspec.db"), log: new(tail), exit: make(chan int, 1)}}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--database", p.database, "--dns", "127.0.0.1:1",
		"--module", moduleFile(t), "--cache-dir", moduletest.CacheDir()}, args...)
	p.cmd = exec.Command(os.Args[0], args...)
	p.cmd.Env = append(os.Environ(), programVariable+"=1")
	p.cmd.Stderr = p.log
	if stderr != nil {
		p.cmd.Stderr = stderr
	}
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	go func() { p.cmd.Wait(); p.exit <- p.cmd.ProcessState.ExitCode() }()
	t.Cleanup(func() { p.cmd.Process.Kill() })
	p.hostPort = awaitAddress(t, out, p.service)
	return p
}

// terminate asks the process to stop, and returns its exit code.
func (p *process) terminate(t *testing.T, within time.Duration) int {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case code := <-p.exit:
		return code
	case <-time.After(within):
		require.FailNow(t, "the process does not stop")
	}
	return -1
}

// get asks for a page, with a key unless it is empty.
func (s *service) get(key, path string) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.hostPort+path, nil)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("X-API-Key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	return response.StatusCode, string(page), err
}

func (s *service) requireHealthy(t *testing.T) {
	t.Helper()
	status, _, err := s.get("", "/healthz")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
}

// unlimitedKey makes an account by the command line.
func (s *service) unlimitedKey(t *testing.T) (key string) {
	t.Helper()
	_, problem, code := operator(t, "account", "create", "--email", "a@example.org", "--plan", "enterprise", "--database", s.database)
	require.Zero(t, code, problem)
	out, problem, code := operator(t, "key", "create", "--account", "a@example.org", "--name", "test", "--database", s.database)
	require.Zero(t, code, problem)
	words := strings.Fields(out)
	return words[len(words)-1]
}

// requireServed makes a request that is always logged.
func (s *service) requireServed(t *testing.T, key string) {
	t.Helper()
	status, body, err := s.get(key, "/v1/usage")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, body)
}

// figure reads a series without labels from /metrics.
func (s *service) figure(t *testing.T, name string) float64 {
	t.Helper()
	status, page, err := s.get("", "/metrics")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	line := regexp.MustCompile(`(?m)^` + name + ` (.*)$`).FindStringSubmatch(page)
	require.NotNil(t, line, name)
	value, err := strconv.ParseFloat(line[1], 64)
	require.NoError(t, err)
	return value
}

// SIGHUP ends no service, also when there is nothing to reload.
func TestHangUpWithNothingToReload(t *testing.T) {
	p := launch(t, nil)
	for range 3 {
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	}
	require.Eventually(t, func() bool { return p.log.holds("nothing to reload") }, 10*time.Second, 10*time.Millisecond)
	p.requireHealthy(t)
	require.Zero(t, p.terminate(t, 30*time.Second))
}

// SIGHUP takes over the plans of --plans; a file that is refused changes nothing.
func TestHangUpReloadsPlans(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plans.json")
	plans := func(text string) { replace(t, file, []byte(text)) }
	plans(`[{"name": "team", "rate": 10, "points": 100}]`)
	p := launch(t, nil, "--plans", file)
	listed := func() string {
		out, err, code := operator(t, "plan", "list", "--database", p.database)
		require.Zero(t, code, err)
		return out
	}
	require.Regexp(t, `team +10 +100`, listed())
	plans(`[{"name": "team", "rate": 20, "points": 200}]`)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	require.Eventually(t, func() bool { return p.log.holds("took over the plans") }, 10*time.Second, 10*time.Millisecond)
	require.Regexp(t, `team +20 +200`, listed())
	plans(`[{"name": "team"}]`)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	require.Eventually(t, func() bool { return p.log.holds("the new plans were refused") }, 10*time.Second, 10*time.Millisecond)
	require.Regexp(t, `team +20 +200`, listed())
	require.Zero(t, p.terminate(t, 30*time.Second))
}

// A log whose reader has stalled stops no request, and a bounded number of lines
// is kept. When the reader goes on, each line arrives or is in the count of the
// dropped.
func TestAStalledLogStopsNothing(t *testing.T) {
	in, out, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	p := launch(t, out)
	require.NoError(t, out.Close())
	key := p.unlimitedKey(t)

	asked := 0
	for asked++; p.figure(t, "addrspec_log_dropped_lines_total") == 0; asked++ {
		for range 1000 {
			p.requireServed(t, key)
			asked++
		}
		require.Less(t, asked, 50_000, "the memory for lines has no bound")
	}
	const further = 2000
	for range further {
		p.requireServed(t, key)
		asked++
	}

	go io.Copy(p.log, in)
	require.Eventually(t, func() bool { return p.log.holds("log lines were dropped") }, 30*time.Second, 10*time.Millisecond)
	require.Zero(t, p.terminate(t, 30*time.Second))
	log, noticed := p.log.String(), 0
	for _, notice := range regexp.MustCompile(`"log lines were dropped.*"lines":(\d+)}`).FindAllStringSubmatch(log, -1) {
		n, err := strconv.Atoi(notice[1])
		require.NoError(t, err)
		noticed += n
	}
	require.GreaterOrEqual(t, noticed, further, "what does not fit is dropped")
	require.Equal(t, asked, noticed+strings.Count(log, `"msg":"request"`), "requests")
}

// A service whose log is not read at all stops in time.
func TestAStalledLogDelaysNoStop(t *testing.T) {
	in, out, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	p := launch(t, out, "--grace", "1s")
	require.NoError(t, out.Close())
	key := p.unlimitedKey(t)
	for range 1000 {
		p.requireServed(t, key)
	}
	require.Zero(t, p.terminate(t, 30*time.Second))
}

// A service whose log has lost its reader goes on.
func TestAClosedLogEndsNothing(t *testing.T) {
	in, out, err := os.Pipe()
	require.NoError(t, err)
	p := launch(t, out)
	require.NoError(t, out.Close())
	require.NoError(t, in.Close())
	for range 20 {
		p.requireHealthy(t)
	}
	require.Eventually(t, func() bool { return p.figure(t, "addrspec_log_dropped_lines_total") > 0 }, 10*time.Second, 50*time.Millisecond)
	p.requireHealthy(t)
	require.Zero(t, p.terminate(t, 30*time.Second))
}
