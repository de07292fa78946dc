package api

import (
	"fmt"
	"log/slog"
	"time"
)

// logEntry is what is kept of a request: never its path, which holds an address,
// nor its headers, which hold a key.
type logEntry struct {
	route  string
	status int
	took   time.Duration
	id     string
}

// log counts and logs one request.
func (s *Server) log(r logEntry) {
	s.Metrics.observe(r)
	s.Log.LogAttrs(s.stopping, slog.LevelInfo, "request", slog.String("route", r.route),
		slog.Int("status", r.status), slog.Duration("took", r.took), slog.String("request_id", r.id))
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
