package main

import (
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

	"github.com/addrspec/addrspec/origin/origintest"
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
	*origintest.Process
}

// launch starts the service with its log on stderr; a nil stderr is s.log.
func launch(t *testing.T, stderr *os.File, args ...string) *process {
	t.Helper()
	s := &service{database: origintest.NewDatabase(t), log: new(origintest.Log)}
	cmd := exec.Command(os.Args[0], origintest.ServeArgs(t, s.database, append([]string{"--dns", "127.0.0.1:1"}, args...)...)...)
	cmd.Env = append(os.Environ(), programVariable+"=1")
	cmd.Stderr = s.log
	if stderr != nil {
		cmd.Stderr = stderr
	}
	p, err := origintest.Start(cmd, origintest.OnStdout)
	require.NoError(t, err, s.log)
	t.Cleanup(p.Kill)
	s.hostPort, err = origintest.AddressIn(p.FirstLine)
	require.NoError(t, err)
	return &process{s, p}
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

// SIGHUP ends no service, also when there is nothing to reload.
func TestHangUpWithNothingToReload(t *testing.T) {
	p := launch(t, nil)
	for range 3 {
		require.NoError(t, p.Signal(syscall.SIGHUP))
	}
	require.Eventually(t, func() bool { return p.log.Contains("nothing to reload") }, 10*time.Second, 10*time.Millisecond)
	p.requireHealthy(t)
	require.NoError(t, p.Terminate(30*time.Second))
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
	require.NoError(t, p.Signal(syscall.SIGHUP))
	require.Eventually(t, func() bool { return p.log.Contains("took over the plans") }, 10*time.Second, 10*time.Millisecond)
	require.Regexp(t, `team +20 +200`, listed())
	plans(`[{"name": "team"}]`)
	require.NoError(t, p.Signal(syscall.SIGHUP))
	require.Eventually(t, func() bool { return p.log.Contains("the new plans were refused") }, 10*time.Second, 10*time.Millisecond)
	require.Regexp(t, `team +20 +200`, listed())
	require.NoError(t, p.Terminate(30*time.Second))
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
	for asked++; p.metric(t, "addrspec_log_dropped_lines_total") == 0; asked++ {
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
	require.Eventually(t, func() bool { return p.log.Contains("log lines were dropped") }, 30*time.Second, 10*time.Millisecond)
	require.NoError(t, p.Terminate(30*time.Second))
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
	require.NoError(t, p.Terminate(30*time.Second))
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
	require.Eventually(t, func() bool { return p.metric(t, "addrspec_log_dropped_lines_total") > 0 }, 10*time.Second, 50*time.Millisecond)
	p.requireHealthy(t)
	require.NoError(t, p.Terminate(30*time.Second))
}
