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

// readyz answers 503 while the ledger cannot commit and once the server stops, so
// that a load balancer sends requests elsewhere.
func (s *Server) readyz(r *http.Request) response {
	if s.stopping.Err() != nil {
		return unavailable("The service is stopping.").response(flat)
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if err := s.Ledger.Ready(ctx); err != nil {
		if r.Context().Err() == nil { // the client is still connected
			s.logError("not ready", err)
		}
		return unavailable("The ledger cannot commit at the moment.").response(flat)
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
