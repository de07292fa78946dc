package api

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/prometheus/common/expfmt"

	"github.com/addrspec/addrspec/origin/api/wire"
)

// Operator returns the handler of the operator's listener.
func (s *Server) Operator() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route := s.match(r)
		if !route.operator {
			route.name, route.handle = unknownRoute.name, (*Server).notOperatorPath
		}
		s.respond(w, r, route)
	})
}

func (s *Server) notOperatorPath(*http.Request) wire.Response {
	return wire.NotFound.With("There is no such path on the operator's listener; it has GET /metrics, GET /readyz " +
		"and GET /healthz.").Response(wire.Flat)
}

// healthz returns 200 once requests can be served.
func (s *Server) healthz(*http.Request) wire.Response {
	return wire.Response{Status: http.StatusOK, Body: []byte(`{"status":"ok"}`)}
}

// readyz returns 503 while the ledger cannot commit, while the resolvers are not
// believed and once the server stops, so that a load balancer sends requests elsewhere.
func (s *Server) readyz(r *http.Request) wire.Response {
	if s.leaving.Load() {
		return wire.Unavailable("The service is stopping.").Response(wire.Flat)
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if err := s.Ledger.Ready(ctx); err != nil {
		if r.Context().Err() == nil { // the client is still connected
			s.logError("not ready", err)
		}
		return wire.Unavailable("The ledger cannot commit at the moment.").Response(wire.Flat)
	}
	if s.Distrusted != nil && s.Distrusted() {
		return wire.Unavailable("The resolvers deny MX records that exist, so lookups fail (--dns-strict). " +
			"The log has their addresses.").Response(wire.Flat)
	}
	info := s.Engine.View().Info()
	return wire.Response{Status: http.StatusOK, Body: wire.Encode(struct {
		Status   string `json:"status"`
		Database string `json:"database"`
		Engine   string `json:"engine"`
		Lists    string `json:"lists"`
		Model    string `json:"model"`
	}{"ready", "ok", info.Engine, info.Lists, info.Model})}
}

// metrics serves GET /metrics in Prometheus text format.
func (s *Server) metrics(*http.Request) wire.Response {
	for _, h := range s.Hooks.Set().Hooks() { // a counter that begins with 1 has no increase for an alert
		s.Metrics.hooks.WithLabelValues(h.Name, string(h.OnError)+"_unchecked")
	}
	families, err := s.Metrics.gatherer.Gather()
	if err != nil {
		s.logError("metrics are incomplete", err)
	}
	var page bytes.Buffer
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	encoder := expfmt.NewEncoder(&page, format)
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return wire.Defect().Response(wire.Flat)
		}
	}
	return wire.Response{Status: http.StatusOK, Body: page.Bytes(), ContentType: string(format)}
}

// securityTxt serves GET /.well-known/security.txt in the media type that RFC 9116 section 3 requires, or
// 404 without such a file.
func (s *Server) securityTxt(r *http.Request) wire.Response {
	text := s.SecurityTxt.Load()
	if text == nil {
		return s.notFound(r)
	}
	return wire.Response{Status: http.StatusOK, Body: *text, ContentType: "text/plain; charset=utf-8"}
}
