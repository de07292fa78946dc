package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
			server.Close() // once it has answered all
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
