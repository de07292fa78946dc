package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// roleBench makes the test binary run as the program itself.
const roleBench = "role-bench"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == roleBench || roles[os.Args[1]] != nil) {
		if os.Args[1] == roleBench {
			os.Args = append(os.Args[:1], os.Args[2:]...)
		}
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		list []float64
		want float64
	}{{nil, 0}, {[]float64{7}, 7}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 3}} {
		require.InDelta(t, c.want, median(c.list), 1e-9, c.list)
	}
}

func TestTarget(t *testing.T) {
	for ratio, want := range map[float64]string{0.4: "missed", 0.5: "met", 0.6: "met"} {
		require.Equal(t, "≥ 0.5\t"+want, atLeast(0.5).judge(ratio))
	}
	for ratio, want := range map[float64]string{6: "met", 7: "met", 8: "missed"} {
		require.Equal(t, "≤ 7\t"+want, atMost(7).judge(ratio))
	}
	require.Equal(t, "\t", target{}.judge(1))
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0: "", 0.1234: "0.123", 12.34: "12.3", 999.4: "999", 999.7: "1,000",
		1234567.8: "1,234,568"} {
		require.Equal(t, want, number(x))
	}
}

func TestReport(t *testing.T) {
	r := &result{row: row{name: "GET", unit: "requests/s", peer: "bare", target: atLeast(0.5)}}
	r.Runs = []pair{{Ours: 40, Peer: 100, Used: 8, PeerUsed: 4}, {Ours: 60, Peer: 100, Used: 9, PeerUsed: 4, P50: 2,
		P99: 3},
		{Ours: 70, Peer: 100, Used: 10, PeerUsed: 4, P50: 2, P99: 3}}
	skipped := &result{row: row{name: "other",
		measure: func(l *lab) pair { l.skip("Node is not installed"); return pair{} }}}
	skipped.run(&lab{})
	report := newReport(t.TempDir())
	report.Rows = []*result{r, skipped}
	var out bytes.Buffer
	report.print(&out)
	require.Regexp(t, `GET +60 requests/s +bare +100 +0.6 +\(0.4 to 0.7\) +≥ 0.5 +met`, out.String())
	require.Regexp(t, `GET +9 +4 +2.25 +\(2 to 2.5\) +2 +3 *\n`, out.String())
	require.Contains(t, out.String(), "skipped: Node is not installed")
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"-runs", "-1"}, {"-only", "("}, {"word"}, {"-nonsense"}} {
		_, err := parse(args, io.Discard)
		require.Error(t, err, args)
	}
	for args, want := range map[string]int{"": 5, "-quick": 3, "-quick -runs 7": 7} {
		o, err := parse(strings.Fields(args), io.Discard)
		require.NoError(t, err)
		require.Equal(t, want, o.runs)
	}
}

// A load counts what the server served, and sends no numbered body twice. A response other than
// 200 is an error.
func TestLoad(t *testing.T) {
	var mu sync.Mutex
	var served int64
	status, bodies := http.StatusOK, map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if r.Method != http.MethodPost || r.Header.Get("X-API-Key") != "k" {
			t.Error("wrong request")
		}
		bodies[string(body)] = true
		served++
		w.WriteHeader(status)
	}))
	defer server.Close()
	l := &lab{ctx: t.Context(), span: 50 * time.Millisecond}
	d := load{Address: server.Listener.Addr().String(), Target: "/", Key: "k", Body: "n#", From: 7_000_000_000,
		Connections: 3}
	s := l.cost(d, os.Getpid()) // from a process of its own
	require.Equal(t, served, s.Requests)
	require.Len(t, bodies, int(served))
	require.True(t, bodies["n7000000001"])
	require.Positive(t, s.rate)
	require.Positive(t, s.P50)
	require.LessOrEqual(t, s.P50, s.P99)

	served, status = 0, http.StatusTooManyRequests
	_, err := d.send()
	require.ErrorContains(t, err, "429")
	failed := result{row: row{measure: func(l *lab) pair { l.cost(d, os.Getpid()); return pair{} }}}
	failed.run(l)
	require.Contains(t, failed.Error, "429")
}

// The processor time of a process is what the system says of it in the end.
func TestProcessorTime(t *testing.T) {
	cmd := exec.Command("sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done; read line")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer cmd.Process.Kill()
	_, err = io.ReadFull(out, make([]byte, len("done")))
	require.NoError(t, err)
	used := processorTime(cmd.Process.Pid)
	if runtime.GOOS != "linux" {
		require.Zero(t, used)
		return
	}
	in.Close()
	_ = cmd.Wait() // read has failed
	whole := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	require.InDelta(t, whole.Seconds(), used.Seconds(), 0.05)
	require.Positive(t, used)
}

// program is a run of the program with these flags.
func program(t *testing.T, flags ...string) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(t, err)
	return exec.CommandContext(t.Context(), self, append([]string{roleBench}, flags...)...)
}

// Rows that need no build of the program are measured as a user does.
func TestBench(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "all.json")
	cmd := program(t, "-quick", "-runs", "1", "-only", "^all facts of jane|^MX, not cached, one|, go beside", "-json",
		file)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	var progress bytes.Buffer
	cmd.Stderr = &progress
	out, err := cmd.Output()
	require.NoError(t, err, progress.String())
	require.Contains(t, progress.String(), "run 1 of 1")
	require.Contains(t, string(out), "net/mail.ParseAddress")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var r report
	require.NoError(t, json.Unmarshal(data, &r))
	require.Len(t, r.Rows, 3)
	for _, f := range r.Rows {
		require.Empty(t, f.Error)
		require.Positive(t, f.Runs[0].Ours)
	}
	requireEmpty(t, dir)

	list, err := program(t, "-only", "no such row").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(list), rows()[0].name)
}

// A row whose tools are missing is skipped, and says which.
func TestPeersMissing(t *testing.T) {
	tools := t.TempDir()
	for _, tool := range []string{"go", "dirname"} {
		path, err := exec.LookPath(tool)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(tools, tool)))
	}
	t.Setenv("PATH", tools)
	for language, missing := range map[string]string{"python": "python3", "node": "npm", "java": "mvn",
		"php": "phpize", "ruby": "gem"} {
		r := &result{row: row{measure: func(l *lab) pair { l.install(language); return pair{} }}}
		r.run(&lab{ctx: t.Context()})
		require.Equal(t, "skipped: "+language+": "+missing+" is not installed", r.Error)
	}
}

// startLong starts a run that does not end by itself, and returns once it is in its
// second run, with the rest of its standard error and the processes that it started.
func startLong(t *testing.T, dir string) (cmd *exec.Cmd, rest io.Reader, children []string) {
	cmd = program(t, "-quick", "-runs", "100000", "-only", "^MX, not cached, one")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	pipe, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(pipe)
	for line := ""; !strings.HasPrefix(line, "run 2 "); {
		line, err = lines.ReadString('\n')
		require.NoError(t, err)
	}
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", cmd.Process.Pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", cmd.Process.Pid, task.Name()))
		children = append(children, strings.Fields(string(text))...)
	}
	if len(children) == 0 {
		_ = cmd.Process.Kill()
		t.Skip("skipped: this system does not list the children of a process")
	}
	return cmd, lines, children
}

// An interrupted run ends the processes that it started, and removes its files.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	cmd, stderr, children := startLong(t, dir)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	rest, err := io.ReadAll(stderr)
	require.NoError(t, err)
	require.Contains(t, string(rest), "interrupted")
	require.Error(t, cmd.Wait())
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	requireEmpty(t, dir)
	for _, child := range children {
		require.NoDirExists(t, "/proc/"+child)
	}
}

// A run that is killed cannot end its processes, so the system does.
func TestKilled(t *testing.T) {
	cmd, _, children := startLong(t, t.TempDir())
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for _, child := range children {
		require.Eventually(t, func() bool { _, err := os.Stat("/proc/" + child); return err != nil }, 2*time.Minute,
			10*time.Millisecond)
	}
}

func requireEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
