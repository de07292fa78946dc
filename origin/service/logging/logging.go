// Package logging writes the service's log without delaying requests.
//
// The log may be a pipe whose reader stalls or exits. Lines are therefore stored
// in a bounded buffer, which one goroutine writes out; lines that do not fit are
// dropped and counted. During an outage each refused request would log the same
// error, so each warning or error is logged at most once a second.
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
	writer     *writer
	suppressor *suppressor
}

// Open returns a Log that writes to out. Without Close its last lines may be
// lost.
func Open(out io.Writer, form Form) *Log {
	l := &Log{
		writer:     &writer{wake: make(chan struct{}, 1), done: make(chan struct{})},
		suppressor: &suppressor{recent: map[string]*recentMessage{}},
	}
	l.Logger = slog.New(&handler{form.handler(l.writer), l.suppressor})
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
	l.suppressor.logSuppressed(true)
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
	suppressFor = time.Second
	maxMessages = 64 // different ones within suppressFor; all further ones count as one
)

// A handler passes on at most one warning or error a second for each message.
// The next record with that message has the number of those left out. Records of
// a lower level all pass.
type handler struct {
	slog.Handler
	suppressor *suppressor
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs), h.suppressor}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.suppressor}
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn && h.suppressor.suppress(h.Handler, r) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// A suppressor has the messages that were logged within the last second.
type suppressor struct {
	mu     sync.Mutex
	recent map[string]*recentMessage
	timer  *time.Timer // calls logSuppressed
}

type recentMessage struct {
	logged     time.Time
	suppressed int // since then
	handler    slog.Handler
	record     slog.Record // the first one suppressed
}

// suppress reports whether the message of r was logged less than a second ago.
// Then logSuppressed logs or counts r later.
func (s *suppressor) suppress(next slog.Handler, r slog.Record) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	message := r.Message
	if s.recent[message] == nil && len(s.recent) >= maxMessages {
		message = ""
	}
	m := s.recent[message]
	if m == nil {
		s.recent[message] = &recentMessage{logged: time.Now()}
		if len(s.recent) == 1 {
			s.timer = time.AfterFunc(suppressFor, func() { s.logSuppressed(false) })
		}
		return false
	}
	if m.suppressed == 0 {
		m.handler, m.record = next, r.Clone()
	}
	m.suppressed++
	return true
}

// logSuppressed logs the first suppressed record of each message that was last logged a
// second ago, or at any time if all are to be logged, with the number of the others.
// It forgets messages without any.
func (s *suppressor) logSuppressed(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, next := time.Now(), suppressFor
	for message, m := range s.recent {
		if left := suppressFor - now.Sub(m.logged); left > 0 && !all {
			next = min(next, left)
			continue
		}
		if m.suppressed == 0 || all {
			delete(s.recent, message)
		}
		if m.suppressed > 0 {
			if m.suppressed > 1 {
				m.record.AddAttrs(slog.Int("left_out", m.suppressed-1))
			}
			_ = m.handler.Handle(context.Background(), m.record)
			*m = recentMessage{logged: now}
		}
	}
	if len(s.recent) > 0 {
		s.timer.Reset(next)
	} else if s.timer != nil {
		s.timer.Stop()
	}
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
			notices.Warn("log lines were dropped: the log's reader was too slow or absent", "lines", dropped-reported)
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
