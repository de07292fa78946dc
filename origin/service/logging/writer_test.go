package logging

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A sink is the destination of a log. Writes block while gate is locked, and fail
// with err.
type sink struct {
	gate sync.Mutex
	mu   sync.Mutex
	text bytes.Buffer
	err  error
	part int // bytes accepted before err
}

func (r *sink) Write(p []byte) (int, error) {
	r.gate.Lock()
	defer r.gate.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		n, _ := r.text.Write(p[:min(r.part, len(p))])
		return n, r.err
	}
	return r.text.Write(p)
}

func (r *sink) fail(err error, part int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.part = err, part
}

// lines returns the messages that arrived and the sum of the notices.
func (r *sink) lines(t *testing.T) (messages []string, noticed int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range strings.Lines(r.text.String()) {
		var record struct {
			Msg   string
			Lines int64
		}
		require.NoError(t, json.Unmarshal([]byte(line), &record), "not a whole line: %s", line)
		if noticed += record.Lines; record.Lines == 0 {
			messages = append(messages, record.Msg)
		}
	}
	return messages, noticed
}

// A stalled reader delays no logger and uses bounded memory. Once it resumes,
// each line arrives or is counted as dropped.
func TestStalledReader(t *testing.T) {
	out := new(sink)
	out.gate.Lock()
	log := Open(out, JSON)
	const lines = 20_000
	for range lines {
		log.Info("request", "text", strings.Repeat("x", 80))
	}
	dropped := log.Dropped()
	require.Positive(t, dropped)
	log.writer.mu.Lock()
	require.LessOrEqual(t, len(log.writer.pending), pendingLimit)
	require.LessOrEqual(t, cap(log.writer.pending), 2*pendingLimit)
	log.writer.mu.Unlock()

	out.gate.Unlock()
	log.Close()
	messages, noticed := out.lines(t)
	require.Equal(t, dropped, noticed)
	require.EqualValues(t, lines, int64(len(messages))+noticed)
}

// Close waits for a stalled reader, but not for long.
func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		log := Open(stuck{gate}, JSON)
		log.Info("request")
		began := time.Now()
		log.Close()
		require.Equal(t, closeLimit, time.Since(began))
		log.Info("too late")
		require.EqualValues(t, 1, log.Dropped())
		log.Close()
		close(gate)
	})
}

type stuck struct{ gate chan struct{} }

func (s stuck) Write(p []byte) (int, error) { <-s.gate; return len(p), nil }

// Lines that a closed reader did not accept are counted, and the count is logged
// once writes succeed again. A cut line does not damage the next one.
func TestFailedWritesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := new(sink)
		log := Open(out, JSON)
		send := func(messages ...string) {
			for _, m := range messages {
				log.Info(m)
			}
			time.Sleep(2 * gatherTime)
			synctest.Wait()
		}
		out.fail(errors.New("broken pipe"), 0)
		send("lost", "lost")
		send("lost")
		require.EqualValues(t, 3, log.Dropped(), "notices are not counted")
		out.fail(errors.New("disk full"), 10)
		send("cut", "lost")
		require.EqualValues(t, 5, log.Dropped())
		out.fail(nil, 0)
		send("arrived")
		send("arrived")
		log.Close()
		cut, rest, _ := strings.Cut(out.text.String(), "\n")
		require.Len(t, cut, 10)
		out.text = *bytes.NewBufferString(rest)
		messages, noticed := out.lines(t)
		require.Equal(t, []string{"arrived", "arrived"}, messages)
		require.EqualValues(t, 5, noticed)
	})
}

// Many goroutines log while the reader stalls repeatedly.
func TestLinesArriveOrAreCounted(t *testing.T) {
	out := new(sink)
	log := Open(out, JSON)
	var all sync.WaitGroup
	const senders, each = 8, 5_000
	for n := range senders {
		all.Go(func() {
			for i := range each {
				log.Info("request", "n", n, "i", i)
				if i%1000 == 999 {
					out.gate.Lock()
					time.Sleep(time.Millisecond) // real time: a reader that stalls
					out.gate.Unlock()
				}
			}
		})
	}
	all.Wait()
	log.Close()
	messages, noticed := out.lines(t)
	require.EqualValues(t, senders*each, int64(len(messages))+noticed)
	require.Equal(t, log.Dropped(), noticed)
}

func TestForms(t *testing.T) {
	for form, want := range map[Form]string{JSON: `"msg":"hello","n":1}`, Text: "msg=hello n=1"} {
		out := new(sink)
		log := Open(out, form)
		log.Info("hello", "n", 1)
		log.Close()
		require.Contains(t, out.text.String(), want)
	}
}
