// Package logging writes the service's log without delaying requests.
//
// The log may be a pipe whose reader stalls or exits. Lines are therefore stored
// in a bounded buffer, which one goroutine writes out. During an outage each refused
// request would log the same error, so warnings and errors have a rate. Lines that do
// not fit, or are too many, are dropped and counted.
//
// Why not zerolog's diode or zap's BufferedWriteSyncer: the diode limits lines
// and not bytes, the syncer blocks while its reader stalls, and closing either
// blocks as well.
package logging

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Form is the format of log lines: JSON or text.
type Form string

// The formats.
const (
	JSON Form = "json"
	Text Form = "text"
)

func (f Form) handler(out io.Writer) slog.Handler {
	if f == Text {
		return slog.NewTextHandler(out, nil)
	}
	return slog.NewJSONHandler(out, nil)
}

// A Log is a slog.Logger that writes in the background.
type Log struct {
	*slog.Logger
	writer *writer
}

// Open returns a Log that writes to out. Without Close its last lines may be
// lost.
func Open(out io.Writer, form Form) *Log {
	l := &Log{writer: &writer{wake: make(chan struct{}, 1), done: make(chan struct{})}}
	l.Logger = slog.New(&handler{form.handler(l.writer), l.writer, rate.NewLimiter(maxRate, maxBurst)})
	go l.writer.run(out, form)
	return l
}

// Dropped returns the number of lines dropped so far.
func (l *Log) Dropped() int64 {
	l.writer.mu.Lock()
	defer l.writer.mu.Unlock()
	return l.writer.dropped
}

// Close writes the buffered lines, for at most a second. Later lines are
// dropped.
func (l *Log) Close() {
	l.writer.mu.Lock()
	if !l.writer.closed {
		l.writer.closed = true
		close(l.writer.wake)
	}
	l.writer.mu.Unlock()
	select {
	case <-l.writer.done:
	case <-time.After(closeLimit):
	}
}

const (
	maxRate  = 10  // warnings and errors a second
	maxBurst = 100 // of them at a time
)

// A handler passes on records, warnings and errors at their rate.
type handler struct {
	slog.Handler
	writer  *writer
	limiter *rate.Limiter
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs), h.writer, h.limiter}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.writer, h.limiter}
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn || h.limiter.Allow() {
		return h.Handler.Handle(ctx, r)
	}
	h.writer.mu.Lock()
	h.writer.dropped++
	h.writer.mu.Unlock()
	return nil
}

const (
	pendingLimit = 512 << 10             // bytes buffered; as many may be being written
	gatherTime   = 10 * time.Millisecond // lines of this time are written together
	closeLimit   = time.Second           // for the last lines
)

// A writer buffers lines for a goroutine that writes them out. Write never waits
// for that: a line that does not fit is dropped and counted.
type writer struct {
	mu      sync.Mutex
	pending []byte // whole lines
	dropped int64
	closed  bool

	wake chan struct{} // receives once pending has lines; Close closes it
	done chan struct{}
}

// Write adds one line to the buffer.
func (w *writer) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.pending)+len(line) > pendingLimit {
		w.dropped++
		return len(line), nil
	}
	w.pending = append(w.pending, line...)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return len(line), nil
}

// run writes the lines to out until Close. The number of lines dropped is written once
// out accepts lines again.
func (w *writer) run(out io.Writer, form Form) {
	defer close(w.done)
	var notice bytes.Buffer
	notices := slog.New(form.handler(&notice))
	var text []byte    // of one write, which may end with a notice
	var reported int64 // of dropped, in notices already written
	inLine := false    // the last write ended in the middle of a line
	for open := true; open; {
		_, open = <-w.wake
		if open {
			time.Sleep(gatherTime) // because writing many lines at once costs little more than one
		}
		w.mu.Lock()
		w.pending, text = text[:0], w.pending
		dropped := w.dropped
		w.mu.Unlock()
		lines := len(text)
		if lines == 0 {
			continue
		}
		if dropped > reported {
			notice.Reset()
			notices.Warn("log lines were dropped: too many warnings and errors, or the log's reader was too slow or absent",
				"lines", dropped-reported)
			text = append(text, notice.Bytes()...)
		}
		if inLine {
			_, _ = out.Write([]byte{'\n'})
		}
		n, err := out.Write(text)
		inLine = n > 0 && text[n-1] != '\n'
		if err != nil {
			w.mu.Lock()
			w.dropped += int64(bytes.Count(text[min(n, lines):lines], []byte{'\n'}))
			w.mu.Unlock()
			continue
		}
		reported = dropped
	}
}
