package api

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/addrspec/addrspec/origin/api/wire"
)

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

// Refusal returns the whole response to a request that reaches no handler (package conn), and counts it.
func (m *Metrics) Refusal(status int) []byte {
	m.requests.WithLabelValues("none", strconv.Itoa(status)).Inc()
	return wire.Refusal(status)
}
