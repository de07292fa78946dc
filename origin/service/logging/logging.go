// Package logging writes the service's log without delaying requests.
//
// The log may be a pipe whose reader stalls or exits. Lines are therefore stored
// in a bounded buffer, which one goroutine writes out; lines that do not fit are
// dropped and counted (writer.go). During an outage each refused request would
// log the same error, so each warning or error is logged at most once a second
// (suppress).
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
	l := &Log{writer: newWriter(out, dropNotice(form)), suppressor: newSuppressor()}
	l.Logger = slog.New(&handler{form.handler(l.writer), l.suppressor})
	return l
}

// Dropped returns the number of lines dropped so far.
func (l *Log) Dropped() int64 { return l.writer.droppedSoFar() }

// Close writes the buffered lines, for at most a second. Later lines are
// dropped.
func (l *Log) Close() {
	l.suppressor.flush()
	l.writer.close()
}

// dropNotice returns a function that formats the line that reports dropped lines.
func dropNotice(form Form) func(lines int64) []byte {
	var line bytes.Buffer
	log := slog.New(form.handler(&line))
	return func(lines int64) []byte {
		line.Reset()
		log.Warn("log lines were dropped: the log's reader was too slow or absent", "lines", lines)
		return line.Bytes()
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
	next       slog.Handler
	suppressor *suppressor
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.next.WithAttrs(attrs), h.suppressor}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.next.WithGroup(name), h.suppressor}
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn && h.suppressor.suppress(h.next, r) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// A suppressor has the messages logged within the last second.
type suppressor struct {
	mu     sync.Mutex
	recent map[string]*recentMessage
}

// A recentMessage is a message that was logged less than a second ago.
type recentMessage struct {
	timer      *time.Timer
	handler    slog.Handler // of record, the first one suppressed
	record     slog.Record
	suppressed int
}

func newSuppressor() *suppressor { return &suppressor{recent: map[string]*recentMessage{}} }

// suppress reports whether the message of r was logged less than a second ago.
// It stores r if it is the first since then, and counts it.
func (s *suppressor) suppress(next slog.Handler, r slog.Record) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	message := r.Message
	if s.recent[message] == nil && len(s.recent) >= maxMessages {
		message = ""
	}
	m := s.recent[message]
	if m == nil {
		s.recent[message] = &recentMessage{timer: time.AfterFunc(suppressFor, func() { s.expire(message) })}
		return false
	}
	if m.suppressed++; m.suppressed == 1 {
		m.handler, m.record = next, r.Clone()
	}
	return true
}

// expire is called a second after message was logged. It logs the first record
// suppressed since then, or removes the message if there is none.
func (s *suppressor) expire(message string) {
	s.mu.Lock()
	m := s.recent[message]
	if m == nil || m.suppressed == 0 {
		delete(s.recent, message)
		s.mu.Unlock()
		return
	}
	log := m.take()
	m.timer.Reset(suppressFor)
	s.mu.Unlock()
	log()
}

// take returns a function that logs the suppressed record, and resets m.
func (m *recentMessage) take() func() {
	next, r, others := m.handler, m.record, m.suppressed-1
	m.handler, m.record, m.suppressed = nil, slog.Record{}, 0
	return func() {
		if others > 0 {
			r.AddAttrs(slog.Int("left_out", others))
		}
		_ = next.Handle(context.Background(), r)
	}
}

// flush logs all suppressed records, when the log is closed.
func (s *suppressor) flush() {
	s.mu.Lock()
	var logs []func()
	for message, m := range s.recent {
		m.timer.Stop()
		if m.suppressed > 0 {
			logs = append(logs, m.take())
		}
		delete(s.recent, message)
	}
	s.mu.Unlock()
	for _, log := range logs {
		log()
	}
}
