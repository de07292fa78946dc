package api

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// Metrics are the metrics of the HTTP server. Their only labels are route and
// status, and of sign-up hooks the name and the decision.
type Metrics struct {
	gatherer prometheus.Gatherer
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec

	connections prometheus.Gauge
	shed        prometheus.Counter
	refused     prometheus.Counter

	hooks *prometheus.CounterVec
}

// NewMetrics registers the metrics with registry. /metrics shows all metrics of
// the registry.
func NewMetrics(registry *prometheus.Registry) *Metrics {
	m := &Metrics{
		gatherer: registry,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "addrspec_requests_total", Help: "Requests answered, by route and HTTP status.",
		}, []string{"route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "addrspec_request_seconds", Help: "Time from the end of a request's header until its answer is sent.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 15),
		}, []string{"route"}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "addrspec_connections", Help: "Open client connections.",
		}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "addrspec_connections_shed_total", Help: "Idle connections closed to make room for a new one.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "addrspec_connections_refused_total", Help: "Connections refused because none was idle.",
		}),
		hooks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "addrspec_hook_decisions_total", Help: "Calls of sign-up hooks, by hook and decision: allow, deny, those two by on_error, unsigned or refused.",
		}, []string{"hook", "decision"}),
	}
	registry.MustRegister(m.requests, m.latency, m.connections, m.shed, m.refused, m.hooks)
	return m
}

func (m *Metrics) observe(r logEntry) {
	m.requests.WithLabelValues(r.route, strconv.Itoa(r.status)).Inc()
	m.latency.WithLabelValues(r.route).Observe(r.took.Seconds())
}

// countProtocolError counts the answer to a request that is not well-formed HTTP
// and reaches no handler.
func (m *Metrics) countProtocolError(status int) {
	m.requests.WithLabelValues("none", strconv.Itoa(status)).Inc()
}

// metrics answers GET /metrics in Prometheus text format.
func (s *Server) metrics(*http.Request) response {
	families, err := s.Metrics.gatherer.Gather()
	if err != nil {
		s.logError("metrics are incomplete", err)
	}
	var page bytes.Buffer
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	encoder := expfmt.NewEncoder(&page, format)
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return internalProblem().response(flat)
		}
	}
	return response{status: http.StatusOK, body: page.Bytes(), contentType: string(format)}
}
