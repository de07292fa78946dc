package api

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// logEntry is what is kept of a request: never its path, which holds an address,
// nor its headers, which hold a key.
type logEntry struct {
	route  string
	status int
	took   time.Duration
	id     string
	served bool // an account got what it asked for
}

// log counts and logs one request.
func (s *Server) log(r logEntry) {
	s.Metrics.observe(r)
	attrs := []slog.Attr{slog.String("route", r.route), slog.Int("status", r.status),
		slog.Duration("took", r.took), slog.String("request_id", r.id)}
	if !r.served {
		leftOut, ok := s.unservedLimit.allow(time.Now())
		if !ok {
			return
		}
		if leftOut > 0 {
			attrs = append(attrs, slog.Int("left_out", leftOut))
		}
	}
	s.Log.LogAttrs(s.stopping, slog.LevelInfo, "request", attrs...)
}

// unservedLines is how many lines a second requests get that no account has
// asked for, or that were refused: neither a caller without a key nor one with a
// free key can fill the disk by refusals. The metrics count them all.
const unservedLines = 100

// A lineLimit lets unservedLines pass in each second.
type lineLimit struct {
	mu      sync.Mutex
	second  int64
	lines   int // in this second
	leftOut int // since the last line that passed
}

// allow reports whether a line may pass, and how many before it did not.
func (l *lineLimit) allow(now time.Time) (leftOut int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if second := now.Unix(); second != l.second {
		l.second, l.lines = second, 0
	}
	if l.lines >= unservedLines {
		l.leftOut++
		return 0, false
	}
	l.lines++
	leftOut, l.leftOut = l.leftOut, 0
	return leftOut, true
}

// logError logs what failed, for the operator. Errors of the ledger, the
// resolver and the module hold no address and no key.
func (s *Server) logError(what string, err error) {
	s.Log.Error(what, slog.String("error", err.Error()))
}

// logPanic logs the type of a panic's value and not the value, which may quote
// the input.
func (s *Server) logPanic(route string, cause any) {
	s.Log.Error("panic", slog.String("route", route), slog.String("type", fmt.Sprintf("%T", cause)))
}
