package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
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

// The generator sends the request and counts what the server answered.
func TestGenerator(t *testing.T) {
	var answered atomic.Int64
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.Header.Get("X-API-Key") != "k" || string(body) != "b" {
			t.Error("wrong request")
		}
		w.WriteHeader(status)
		answered.Add(1)
	}))
	defer server.Close()
	d := load{url: server.URL, keys: []string{"k"}, body: "b", connections: 3, span: 50 * time.Millisecond}
	s := d.send()
	require.EqualValues(t, answered.Load(), s.Requests)
	require.Zero(t, s.Errors)
	rate, err := s.rate()
	require.NoError(t, err)
	require.Positive(t, rate)
	require.Positive(t, s.P50)
	require.LessOrEqual(t, s.P50, s.P99)

	answered.Store(0)
	fromProcess, err := d.own(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, answered.Load(), fromProcess.Requests)

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
