package api

import (
	"fmt"
	"log/slog"
	"time"
)

// record is what is kept of a request: never its path, which holds an address,
// nor its headers, which hold a key.
type record struct {
	route  string
	status int
	took   time.Duration
	id     string
}

func (s *Server) record(r record) {
	s.Metrics.observe(r)
	s.Log.LogAttrs(s.stopping, slog.LevelInfo, "request", slog.String("route", r.route),
		slog.Int("status", r.status), slog.Duration("took", r.took), slog.String("request_id", r.id))
}

// logFault tells the operator what failed. Errors of the ledger, the resolver
// and the module hold no address and no key.
func (s *Server) logFault(what string, err error) {
	s.Log.Error(what, slog.String("error", err.Error()))
}

// logPanic tells where, not what: a panic's value may quote the input.
func (s *Server) logPanic(route string, fault any) {
	s.Log.Error("panic", slog.String("route", route), slog.String("type", fmt.Sprintf("%T", fault)))
}
