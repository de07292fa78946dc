package logging

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	suppressFor = time.Second
	maxMessages = 64 // different ones within repeatEvery; further ones count as one
)

// A handler passes a warning or an error on at most once a second for each
// message. The next one that is passed on carries the number of those left out
// between. Lines of a lower level all pass.
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

// repeats knows the messages of the last second.
type suppressor struct {
	mu     sync.Mutex
	recent map[string]*recentMessage
}

// A repeat is a message that was logged less than a second ago.
type recentMessage struct {
	timer *time.Timer
	next  slog.Handler // of the first that was held since
	first slog.Record
	held  int
}

func newSuppressor() *suppressor { return &suppressor{recent: map[string]*recentMessage{}} }

// hold keeps a record back if its message was logged less than a second ago.
func (s *suppressor) suppress(next slog.Handler, r slog.Record) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	message := r.Message
	if s.recent[message] == nil && len(s.recent) >= maxMessages {
		message = ""
	}
	x := s.recent[message]
	if x == nil {
		s.recent[message] = &recentMessage{timer: time.AfterFunc(suppressFor, func() { s.expire(message) })}
		return false
	}
	if x.held++; x.held == 1 {
		x.next, x.first = next, r.Clone()
	}
	return true
}

// release logs the first record that was held, a second after the one before
// it, or forgets the message if there is none.
func (s *suppressor) expire(message string) {
	s.mu.Lock()
	x := s.recent[message]
	if x == nil || x.held == 0 {
		delete(s.recent, message)
		s.mu.Unlock()
		return
	}
	log := x.takeHeld()
	x.timer.Reset(suppressFor)
	s.mu.Unlock()
	log()
}

// take returns what logs the record that was held.
func (x *recentMessage) takeHeld() func() {
	next, r, others := x.next, x.first, x.held-1
	x.next, x.first, x.held = nil, slog.Record{}, 0
	return func() {
		if others > 0 {
			r.AddAttrs(slog.Int("left_out", others))
		}
		_ = next.Handle(context.Background(), r)
	}
}

// flush logs what is held, at the end.
func (s *suppressor) flush() {
	s.mu.Lock()
	var logs []func()
	for message, x := range s.recent {
		x.timer.Stop()
		if x.held > 0 {
			logs = append(logs, x.takeHeld())
		}
		delete(s.recent, message)
	}
	s.mu.Unlock()
	for _, log := range logs {
		log()
	}
}
