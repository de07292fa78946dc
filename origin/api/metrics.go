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
	}
	registry.MustRegister(m.requests, m.latency)
	return m
}

func (m *Metrics) observe(r logEntry) {
	m.requests.WithLabelValues(r.route, strconv.Itoa(r.status)).Inc()
	m.latency.WithLabelValues(r.route).Observe(r.took.Seconds())
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
