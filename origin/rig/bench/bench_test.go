package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if role, found := roles[argument(1)]; found {
		os.Exit(role(os.Args[2:]))
	}
	if argument(1) == roleBench {
		os.Args = append(os.Args[:1], os.Args[2:]...)
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		list []float64
		want float64
	}{{nil, 0}, {[]float64{7}, 7}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		require.InDelta(t, c.want, median(c.list), 1e-9, c.list)
	}
}

func TestTarget(t *testing.T) {
	require.True(t, atLeast(0.5).met(0.5))
	require.True(t, atLeast(0.5).met(0.6))
	require.False(t, atLeast(0.5).met(0.4))
	require.True(t, atMost(7).met(7))
	require.True(t, atMost(7).met(6))
	require.False(t, atMost(7).met(8))
	require.Equal(t, "≥ 0.5", atLeast(0.5).String())
	require.Empty(t, target{}.String())
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0.1234: "0.123", 12.34: "12.3", 999.4: "999", 999.7: "1,000", 1234567.8: "1,234,568"} {
		require.Equal(t, want, number(x))
	}
}

// A report survives its file, and the comparison calls overlapping runs noise.
func TestReport(t *testing.T) {
	r := result{row: row{name: "GET", unit: "requests/s", peer: "bare", target: atLeast(0.5)}}
	r.add(pair{Ours: 40, Peer: 100, Used: 8, PeerUsed: 4}, nil)
	r.add(pair{Ours: 60, Peer: 100, Used: 9, PeerUsed: 4, P50: 2, P99: 3}, nil)
	r.add(pair{Ours: 70, Peer: 100, Used: 10, PeerUsed: 4, P50: 2, P99: 3}, nil)
	skipped := result{row: row{name: "other"}, err: skip("Node is not installed")}
	before := newReport([]result{r, skipped}, machine{Commit: "abc", Processor: "P", Versions: map[string]string{"go": "go1"}})
	path := filepath.Join(t.TempDir(), "report.json")
	require.NoError(t, before.write(path))
	read, err := readBefore(path)
	require.NoError(t, err)
	require.Equal(t, before, *read)

	var out bytes.Buffer
	before.print(&out)
	require.Regexp(t, `GET +60 requests/s +bare +100 +0.6 +\(0.4 to 0.7\) +≥ 0.5 +met`, out.String())
	require.Regexp(t, `GET +9 +4 +2.25 +\(2 to 2.5\) +2 +3 *\n`, out.String())
	require.Contains(t, out.String(), "skipped: Node is not installed")

	faster := result{row: r.row}
	faster.add(pair{Ours: 90, Peer: 100, Used: 5, PeerUsed: 4}, nil)
	now := newReport([]result{faster}, machine{})
	out.Reset()
	now.printChanges(&out, before)
	require.Regexp(t, `GET +0.6 +\(0.4 to 0.7\) +0.9 +\(0.9 to 0.9\) +\+50.0 %\s*\n +processor time +2.25 +\(2 to 2.5\) +1.25 +\(1.25 to 1.25\) +-44.4 %\s*\n`, out.String())
	out.Reset()
	before.printChanges(&out, before)
	require.Contains(t, out.String(), "within the noise")
}

func TestReadBeforeRefuses(t *testing.T) {
	_, err := readBefore(filepath.Join(t.TempDir(), "missing"))
	require.ErrorContains(t, err, "-against")
	path := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(path, []byte("no"), 0o600))
	_, err = readBefore(path)
	require.ErrorContains(t, err, "is not what -json writes")
	require.NoError(t, os.WriteFile(path, []byte("{}"), 0o600))
	_, err = readBefore(path)
	require.ErrorContains(t, err, "no rows")
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"-runs", "0"}, {"-only", "("}, {"word"}, {"-nonsense"}} {
		_, err := parse(args, io.Discard)
		require.Error(t, err, args)
	}
	o, err := parse([]string{"-quick"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, quickRuns, o.runs)
	o, err = parse([]string{"-quick", "-runs", "7"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, 7, o.runs)
}

// The generator sends the request and counts what the server served.
func TestGenerator(t *testing.T) {
	var served atomic.Int64
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.Header.Get("X-API-Key") != "k" || string(body) != "b" {
			t.Error("wrong request")
		}
		w.WriteHeader(status)
		served.Add(1)
	}))
	defer server.Close()
	d := load{url: server.URL, keys: []string{"k"}, body: "b", connections: 3, span: 50 * time.Millisecond}
	s := d.send()
	require.EqualValues(t, served.Load(), s.Requests)
	require.Zero(t, s.Errors)
	rate, err := s.rate()
	require.NoError(t, err)
	require.Positive(t, rate)
	require.Positive(t, s.P50)
	require.LessOrEqual(t, s.P50, s.P99)

	served.Store(0)
	fromProcess, err := d.own(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, served.Load(), fromProcess.Requests)

	status = http.StatusTooManyRequests
	_, err = d.send().rate()
	require.ErrorContains(t, err, "failed")
	fromProcess, err = d.own(context.Background())
	require.NoError(t, err)
	require.Equal(t, fromProcess.Requests, fromProcess.Errors)
	_, err = fromProcess.rate()
	require.ErrorContains(t, err, "failed")
}

func TestReadDNSPerf(t *testing.T) {
	const report = "Statistics:\n\n  Queries sent:         1000\n  Queries lost:         %d (0.00%%)\n\n  Queries per second:   49627.250000\n"
	rate, err := readDNSPerf(fmt.Sprintf(report, 0))
	require.NoError(t, err)
	require.Equal(t, 49627.25, rate)
	for _, out := range []string{"", fmt.Sprintf(report, 3), "Queries lost: 0"} {
		_, err := readDNSPerf(out)
		require.ErrorContains(t, err, "lost queries or printed no rate")
	}
}

func TestReadWrk(t *testing.T) {
	s, err := readWrk("Running 1s test\nsent 1000 500000 2 700 9000\n")
	require.NoError(t, err)
	require.Equal(t, sent{1000, 500 * time.Millisecond, 2, 700 * time.Microsecond, 9 * time.Millisecond}, s)
	for _, out := range []string{"", "sent 1 2", "sent a b c d e", "sent 1 2 3 4 99999999999999999999"} {
		_, err := readWrk(out)
		require.Error(t, err, out)
	}
}

func TestRate(t *testing.T) {
	rate, err := sent{Requests: 1000, Took: 500 * time.Millisecond}.rate()
	require.NoError(t, err)
	require.InDelta(t, 2000, rate, 1e-9)
	for _, s := range []sent{{Requests: 10, Took: 1, Errors: 1}, {Took: 1}, {Requests: 10}, {Requests: -1, Took: 1}} {
		_, err := s.rate()
		require.Error(t, err, s)
	}
}

func FuzzReadWrk(f *testing.F) {
	f.Add("sent 1000 500000 0 700 9000\n")
	f.Add("sent -1 9223372036854775807 0 0 0")
	f.Fuzz(func(t *testing.T, out string) {
		s, err := readWrk(out)
		if err != nil {
			return
		}
		if rate, err := s.rate(); err == nil && !(rate > 0) {
			t.Errorf("%q: %v", out, rate)
		}
	})
}

// A row of each process that needs no build of the program is measured as a user does.
func TestBench(t *testing.T) {
	o, err := parse([]string{"-quick", "-runs", "1", "-only", "^all facts of jane|^MX, cached$", "-json", filepath.Join(t.TempDir(), "all.json"), "-dir", t.TempDir()}, io.Discard)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, bench(context.Background(), o, &out, progress{out: io.Discard}))
	data, err := os.ReadFile(o.json)
	require.NoError(t, err)
	var r report
	require.NoError(t, json.Unmarshal(data, &r))
	require.Len(t, r.Rows, 2)
	for _, f := range r.Rows {
		require.Empty(t, f.Error)
		require.Positive(t, f.Figure.Ratio)
	}
	require.Contains(t, out.String(), "net/mail.ParseAddress")
}

func TestBenchRefuses(t *testing.T) {
	o, err := parse([]string{"-only", "no such row"}, io.Discard)
	require.NoError(t, err)
	require.ErrorContains(t, bench(context.Background(), o, io.Discard, progress{out: io.Discard}), "matches no row")

	o, err = parse([]string{"-quick", "-only", "^MX, cached", "-dir", t.TempDir()}, io.Discard)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	require.ErrorContains(t, bench(ctx, o, io.Discard, progress{out: io.Discard}), "interrupted")
	left, err := os.ReadDir(o.dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// A seen counts what a server was sent.
type seen struct {
	sync.Mutex
	keys, bodies map[string]int
	requests     int64
}

func (s *seen) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.Lock()
	defer s.Unlock()
	s.requests++
	s.keys[r.Header.Get("X-API-Key")]++
	s.bodies[string(body)]++
}

// wrk and our own generator send the same: every key in turn, and no body twice.
func TestKeysAndNumbers(t *testing.T) {
	l := &lab{dir: t.TempDir(), span: 300 * time.Millisecond}
	for name, send := range map[string]func(*testing.T, load) (sent, error){
		"own": func(_ *testing.T, d load) (sent, error) { return d.own(context.Background()) },
		"wrk": func(t *testing.T, d load) (sent, error) {
			path, err := exec.LookPath("wrk")
			if err != nil {
				t.Skip("wrk is not installed")
			}
			return l.wrk(context.Background(), path, d)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &seen{keys: map[string]int{}, bodies: map[string]int{}}
			server := httptest.NewServer(s)
			defer server.Close()
			got, err := send(t, load{url: server.URL, keys: []string{"k1", "k2", "k3"}, body: `{"a":"n#.example"}`, from: 7_000_000_000, connections: 2, span: l.span})
			server.Close() // once it has served all
			require.NoError(t, err)
			require.Positive(t, got.Requests)
			require.Zero(t, got.Errors)
			require.LessOrEqual(t, got.Requests, s.requests) // wrk does not count the last of each connection
			require.LessOrEqual(t, s.requests, got.Requests+2)
			require.Len(t, s.keys, 3)
			require.Len(t, s.bodies, int(s.requests))
			for body := range s.bodies {
				require.Regexp(t, `^\{"a":"n70000\d{5}\.example"\}$`, body)
			}
		})
	}
}

func TestReadLoadRefuses(t *testing.T) {
	for _, args := range [][]string{{}, {"u", "x", "1s", "0"}, {"u", "1", "x", "0"}, {"u", "1", "1s", "x"}} {
		_, err := readLoad(args, strings.NewReader("k\n\n"))
		require.Error(t, err, args)
	}
	_, err := readLoad([]string{"u", "1", "1s", "0"}, strings.NewReader("k"))
	require.ErrorContains(t, err, "no empty line")
}

func TestPercentile(t *testing.T) {
	require.Zero(t, percentile(nil, 50))
	times := []time.Duration{1, 2, 3, 4, 5}
	require.EqualValues(t, 3, percentile(times, 50))
	require.EqualValues(t, 4, percentile(times, 99))
	require.EqualValues(t, 5, percentile(times, 100))
}

// The name of a process may contain what separates the fields.
func TestReadStat(t *testing.T) {
	text := "42 (a b) c) S " + strings.Repeat("1 ", 10) + "70 30 9 9\n"
	require.Equal(t, time.Second, readStat(text))
	for _, text := range []string{"", "42 (a) S 1", strings.Replace(text, "70", "x", 1)} {
		require.Zero(t, readStat(text), text)
	}
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

var somePlot = plot{Name: "some", Title: `a < b & "c"`, X: "connections", Y: "µs", Lines: []line{
	{"ours", []point{{1, 30}, {8, 20}, {512, 90}}}, {"<peer>", []point{{1, 10}, {512, 0}}},
}}

// A plot is well-formed XML, has its labels, and draws all within the picture.
func TestSVG(t *testing.T) {
	for name, p := range map[string]plot{
		"usual": somePlot, "empty": {}, "one point": {Lines: []line{{"a", []point{{1, 1}}}}}, "zeros": {Lines: []line{{"a", []point{{1, 0}, {2, 0}}}}},
	} {
		svg := p.svg()
		d := xml.NewDecoder(strings.NewReader(svg))
		var words strings.Builder
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
			if text, ok := token.(xml.CharData); ok {
				words.Write(text)
			}
		}
		for _, label := range []string{p.Title, p.X, p.Y} {
			require.Contains(t, words.String(), label, name)
		}
		for _, c := range regexp.MustCompile(`c([xy])="([^"]*)"`).FindAllStringSubmatch(svg, -1) {
			at, err := strconv.ParseFloat(c[2], 64)
			require.NoError(t, err, name)
			require.GreaterOrEqual(t, at, 0.0, name)
			require.LessOrEqual(t, at, map[string]float64{"x": plotWidth, "y": plotHeight}[c[1]], name)
		}
	}
}

// A factor of eight is as wide anywhere, and a higher figure is drawn higher.
func TestScale(t *testing.T) {
	s := somePlot.scale()
	require.InDelta(t, plotLeft, s.x(1), 1e-9)
	require.InDelta(t, plotWidth-plotRight, s.x(512), 1e-9)
	require.InDelta(t, s.x(8)-s.x(1), s.x(64)-s.x(8), 1e-9)
	require.InDelta(t, plotHeight-plotBottom, s.y(0), 1e-9)
	require.Less(t, s.y(90), s.y(30))
	require.InDelta(t, 100, s.top, 1e-9)
}

func TestNiceStep(t *testing.T) {
	for highest, want := range map[float64]float64{0: 1, 1: 0.2, 5: 1, 90: 20, 1234: 500, 999: 200} {
		require.InDelta(t, want, niceStep(highest), want*1e-9, highest)
	}
	for highest := 1e-9; highest < 1e12; highest *= 1.7 {
		steps := math.Ceil(highest / niceStep(highest))
		require.GreaterOrEqual(t, steps, 2.0, highest)
		require.LessOrEqual(t, steps, 6.0, highest)
	}
}

func TestWritePlots(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "directory")
	require.NoError(t, writePlots(dir, []plot{somePlot}))
	data, err := os.ReadFile(filepath.Join(dir, "some.svg"))
	require.NoError(t, err)
	require.Equal(t, somePlot.svg(), string(data))
}

func TestSweepLines(t *testing.T) {
	s := sweep{sizes: []int{1, 10}, names: [2]string{"ours", "peer"}}
	s.addLines([][]pair{{{Ours: 1, Peer: 9}, {Ours: 3, Peer: 7}, {Ours: 2, Peer: 8}}, {{Ours: 5, Peer: 6}}})
	require.Equal(t, []line{{"ours", []point{{1, 2}, {10, 5}}}, {"peer", []point{{1, 8}, {10, 6}}}}, s.Lines)
}

// roleBench makes the test binary run as the program itself.
const roleBench = "role-bench"

// program is a run of the program with these flags.
func program(t *testing.T, flags ...string) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(t, err)
	return exec.CommandContext(t.Context(), self, append([]string{roleBench}, flags...)...)
}

func TestProcess(t *testing.T) {
	dir := t.TempDir()
	cmd := program(t, "-quick", "-runs", "1", "-only", "^MX, not cached, one", "-dir", dir)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	require.NoError(t, err, errors.String())
	require.Contains(t, string(out), "dns.Exchange")
	require.Contains(t, errors.String(), "run 1 of 1")
	requireEmpty(t, dir)

	list, err := program(t, "-list").Output()
	require.NoError(t, err)
	require.Len(t, strings.Split(strings.TrimSpace(string(list)), "\n"), len(rows()))

	require.Error(t, program(t, "-runs", "0").Run())
}

// startLong starts a run that does not end by itself, and returns once it is in its
// second run, with the rest of its standard error and the processes that it started.
func startLong(t *testing.T, dir string) (cmd *exec.Cmd, rest io.Reader, children []string) {
	cmd = program(t, "-quick", "-runs", "100000", "-only", "^MX, not cached, one", "-dir", dir)
	pipe, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(pipe)
	for line := ""; !strings.HasPrefix(line, "run 2 "); {
		line, err = lines.ReadString('\n')
		require.NoError(t, err)
	}
	if children = childrenOf(cmd.Process.Pid); len(children) == 0 {
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
		require.Eventually(t, func() bool { _, err := os.Stat("/proc/" + child); return err != nil }, 2*time.Minute, 10*time.Millisecond)
	}
}

// childrenOf returns the processes that a process has started, on Linux.
func childrenOf(pid int) (all []string) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

func requireEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
