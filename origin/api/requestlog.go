package api

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// logEntry is what is logged and counted of a request: never the path, which has
// an address, nor a header, which may be a key.
type logEntry struct {
	route  string
	status int
	took   time.Duration
	id     string
	served bool // answered 200 to an account
}

// log counts a request and logs it.
func (s *Server) log(r logEntry) {
	s.Metrics.observe(r)
	now, leftOut := time.Now(), 0
	if !r.served {
		var ok bool
		if leftOut, ok = s.unservedLimit.allow(now); !ok {
			return
		}
	}
	line := slog.NewRecord(now, slog.LevelInfo, "request", 0) // Logger would look for its caller, which is not logged
	line.AddAttrs(slog.String("route", r.route), slog.Int("status", r.status),
		slog.Duration("took", r.took), slog.String("request_id", r.id))
	if leftOut > 0 {
		line.AddAttrs(slog.Int("left_out", leftOut))
	}
	if log := s.Log.Handler(); log.Enabled(s.stopping, slog.LevelInfo) {
		_ = log.Handle(s.stopping, line)
	}
}

// unservedLines is the number of lines a second for requests that are refused or
// have no account, so that callers without a key, or with a free one, cannot fill
// the disk. The metrics count all requests.
const unservedLines = 100

// A lineLimit allows unservedLines in each second.
type lineLimit struct {
	mu      sync.Mutex
	second  int64
	lines   int // in this second
	leftOut int // since the last allowed line
}

// allow reports whether a line may be logged, and how many before it were left
// out.
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

// logError logs an error for the operator. Errors of the ledger, the resolver and
// the module contain no address and no key.
func (s *Server) logError(what string, err error) {
	s.Log.Error(what, slog.String("error", err.Error()))
}

// logPanic logs the type of a panic's value, not the value, which may contain
// input.
func (s *Server) logPanic(route string, cause any) {
	s.Log.Error("panic", slog.String("route", route), slog.String("type", fmt.Sprintf("%T", cause)))
}
