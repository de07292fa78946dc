package api

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// Metrics are the figures of the HTTP server, by route and status only.
type Metrics struct {
	gatherer prometheus.Gatherer
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec

	connections prometheus.Gauge
	shed        prometheus.Counter
	refused     prometheus.Counter
}

// NewMetrics registers the figures with registry; /metrics shows all that the
// registry has.
func NewMetrics(registry *prometheus.Registry) *Metrics {
	m := &Metrics{
		gatherer: registry,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "addrspec_requests_total", Help: "Requests answered, by route and HTTP status.",
		}, []string{"route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "addrspec_request_seconds", Help: "Time from the request's header to its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 15),
		}, []string{"route"}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "addrspec_connections", Help: "Client connections that are open.",
		}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "addrspec_connections_shed_total", Help: "Idle connections closed to make room for another.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "addrspec_connections_refused_total", Help: "Connections refused because all others were at work.",
		}),
	}
	registry.MustRegister(m.requests, m.latency, m.connections, m.shed, m.refused)
	return m
}

func (m *Metrics) observe(r logEntry) {
	m.requests.WithLabelValues(r.route, strconv.Itoa(r.status)).Inc()
	m.latency.WithLabelValues(r.route).Observe(r.took.Seconds())
}

// protocol counts an answer to what no handler sees, since it is not well-formed
// HTTP.
func (m *Metrics) countProtocolError(status int) {
	m.requests.WithLabelValues("none", strconv.Itoa(status)).Inc()
}

// metrics answers GET /metrics in the text format of Prometheus.
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
