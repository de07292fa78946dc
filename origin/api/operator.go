package api

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
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
	if s.stopping.Err() != nil {
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

// Metrics are the metrics of the HTTP server. Their only labels are route and
// status, and of sign-up hooks the name and the decision.
type Metrics struct {
	gatherer prometheus.Gatherer
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	hooks    *prometheus.CounterVec
}

// NewMetrics registers the metrics with registry. /metrics shows all metrics of
// the registry.
func NewMetrics(registry *prometheus.Registry) *Metrics {
	m := &Metrics{
		gatherer: registry,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "addrspec_requests_total", Help: "Requests served, by route and HTTP status.",
		}, []string{"route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "addrspec_request_seconds", Help: "Time from the end of a request's header until its response is sent.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 15),
		}, []string{"route"}),
		hooks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "addrspec_hook_decisions_total", Help: "Calls of sign-up hooks, by hook and decision: allow, deny, those two by on_error, unsigned or refused.",
		}, []string{"hook", "decision"}),
	}
	registry.MustRegister(m.requests, m.latency, m.hooks)
	return m
}

func (m *Metrics) observe(r logEntry) {
	m.requests.WithLabelValues(r.route, strconv.Itoa(r.status)).Inc()
	m.latency.WithLabelValues(r.route).Observe(r.took.Seconds())
}

// Refusal returns the whole response to a request that reaches no handler (package conn), and counts it.
func (m *Metrics) Refusal(status int) []byte {
	m.requests.WithLabelValues("none", strconv.Itoa(status)).Inc()
	return wire.Refusal(status)
}

// metrics serves GET /metrics in Prometheus text format.
func (s *Server) metrics(*http.Request) wire.Response {
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

// logEntry is what is logged and counted of a request: never the path, which has
// an address, nor a header, which may be a key.
type logEntry struct {
	route  string
	status int
	took   time.Duration
	id     string
	served bool // returned 200 to an account
}

// log counts a request and logs it.
func (s *Server) log(r logEntry) {
	s.Metrics.observe(r)
	if !r.served && !s.unserved.Allow() {
		s.leftOut.Add(1)
		return
	}
	line := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0) // Logger would look for its caller, which is not logged
	line.AddAttrs(slog.String("route", r.route), slog.Int("status", r.status),
		slog.Duration("took", r.took), slog.String("request_id", r.id))
	if leftOut := s.leftOut.Swap(0); leftOut > 0 {
		line.AddAttrs(slog.Int64("left_out", leftOut))
	}
	if log := s.Log.Handler(); log.Enabled(s.stopping, slog.LevelInfo) {
		_ = log.Handle(s.stopping, line)
	}
}

// unservedLines is the number of lines a second for requests that are refused or have no account, so that
// callers without a key, or with a free key, cannot fill the disk. The metrics count all requests.
const unservedLines = 100

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

// securityTxt serves GET /.well-known/security.txt in the media type that RFC 9116 section 3 requires, or
// 404 without such a file.
func (s *Server) securityTxt(r *http.Request) wire.Response {
	text := s.SecurityTxt.Load()
	if text == nil {
		return s.notFound(r)
	}
	return wire.Response{Status: http.StatusOK, Body: *text, ContentType: "text/plain; charset=utf-8"}
}
