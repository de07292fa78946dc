package api

import (
	"slices"
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

const requestsTotal = "addrspec_requests_total"

// NewMetrics registers the metrics with registry. /metrics shows all metrics of
// the registry.
func NewMetrics(registry *prometheus.Registry) *Metrics {
	m := &Metrics{
		gatherer: registry,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: requestsTotal, Help: "Requests served, by route and HTTP status.",
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

// Refused returns how many requests for results were not served since the start of the process, by HTTP
// status. It leaves out pages and unknown paths, because requests for them need no key.
func (m *Metrics) Refused() map[int]int64 {
	counts := map[int]int64{}
	families, _ := m.gatherer.Gather() // an error is of another metric, and /metrics logs it
	for _, family := range families {
		if family.GetName() != requestsTotal {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := metric.GetLabel() // sorted by name: route, status
			status, _ := strconv.Atoi(labels[1].GetValue())
			if status >= 400 && slices.Contains(resultRoutes, labels[0].GetValue()) {
				counts[status] += int64(metric.GetCounter().GetValue())
			}
		}
	}
	return counts
}

// resultRoutes are the routes whose requests ask for results, or for what is left of the points.
var resultRoutes = []string{"single", "batch", "usage", mcpRoute, "edge", "hook"}
