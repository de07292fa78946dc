// Package logging writes the service's log without delaying requests.
//
// The log may be a pipe whose reader stalls or exits. Lines are therefore stored
// in a bounded buffer, which one goroutine writes out; lines that do not fit are
// dropped and counted (writer). During an outage each refused request would
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

const (
	pendingLimit = 512 << 10             // bytes buffered; the chunk being written may have as many
	gatherTime   = 10 * time.Millisecond // lines of this time are written together
	closeLimit   = time.Second           // for the last lines
)

// A writer buffers lines for a goroutine that writes them to out. Write never
// waits for out: a line that does not fit is dropped and counted, and the count
// is written once out accepts lines again.
type writer struct {
	out    io.Writer
	notice func(dropped int64) []byte

	mu       sync.Mutex
	pending  []byte // whole lines
	dropped  int64
	reported int64 // of dropped, in notices already written
	closed   bool

	wake    chan struct{} // receives once pending has lines
	closing chan struct{}
	done    chan struct{}
}

func newWriter(out io.Writer, notice func(int64) []byte) *writer {
	w := &writer{out: out, notice: notice,
		wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
	go w.run()
	return w
}

// Write adds one line to the buffer.
func (w *writer) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.pending)+len(line) > pendingLimit {
		w.dropped++
		return len(line), nil
	}
	if len(w.pending) == 0 {
		w.signal()
	}
	w.pending = append(w.pending, line...)
	return len(line), nil
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *writer) run() {
	defer close(w.done)
	var c chunk
	for open := true; open; {
		select {
		case <-w.wake:
			w.gather()
		case <-w.closing:
			open = false
		}
		c = w.take(c)
		w.write(&c)
	}
}

// gather waits for more lines, since writing many lines at once costs little more
// than writing one.
func (w *writer) gather() {
	timer := time.NewTimer(gatherTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.closing:
	}
}

// A chunk is the text of one write.
type chunk struct {
	text      []byte
	lineBytes int   // bytes of the lines; a notice may follow
	dropped   int64 // writer.dropped when the chunk was taken
	cut       bool  // the previous write ended in the middle of a line
}

// take returns the buffered lines as a chunk. The previous chunk's memory becomes
// the buffer.
func (w *writer) take(previous chunk) chunk {
	w.mu.Lock()
	c := chunk{text: w.pending, lineBytes: len(w.pending), dropped: w.dropped, cut: previous.cut}
	w.pending = previous.text[:0]
	unreported := w.dropped - w.reported
	w.mu.Unlock()
	if unreported > 0 && c.lineBytes > 0 {
		c.text = append(c.text, w.notice(unreported)...)
	}
	return c
}

// write writes a chunk. Lines that out did not accept are dropped.
func (w *writer) write(c *chunk) {
	if c.lineBytes == 0 {
		return
	}
	if c.cut {
		_, _ = w.out.Write([]byte{'\n'})
	}
	n, err := w.out.Write(c.text)
	c.cut = n > 0 && c.text[n-1] != '\n'
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.dropped += int64(bytes.Count(c.text[min(n, c.lineBytes):c.lineBytes], []byte{'\n'}))
		return
	}
	w.reported = c.dropped
}

func (w *writer) droppedSoFar() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dropped
}

// close writes the buffered lines, for at most closeLimit.
func (w *writer) close() {
	w.mu.Lock()
	already := w.closed
	w.closed = true
	w.mu.Unlock()
	if !already {
		close(w.closing)
	}
	timer := time.NewTimer(closeLimit)
	defer timer.Stop()
	select {
	case <-w.done:
	case <-timer.C:
	}
}
