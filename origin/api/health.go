package api

import (
	"context"
	"net/http"
	"time"
)

// healthz answers 200 once requests can be served.
func (s *Server) healthz(*http.Request) response {
	return response{status: http.StatusOK, body: []byte(`{"status":"ok"}`)}
}

// readyz also asks the ledger's database, within a second. A server that stops
// is not ready, so that whoever sends requests here sends them elsewhere.
func (s *Server) readyz(r *http.Request) response {
	if s.stopping.Err() != nil {
		return unavailable("The service is stopping.").response()
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if err := s.Ledger.Ping(ctx); err != nil {
		s.logFault("not ready", err)
		return unavailable("The ledger's database does not answer.").response()
	}
	info := s.Engine.View().Info()
	return response{status: http.StatusOK, body: encode(struct {
		Status   string `json:"status"`
		Database string `json:"database"`
		Engine   string `json:"engine"`
		Lists    string `json:"lists"`
		Model    string `json:"model"`
	}{"ready", "ok", info.Engine, info.Lists, info.Model})}
}
