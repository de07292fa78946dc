package service

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/update"
	"github.com/addrspec/addrspec/origin/api"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/service/logging"
	"github.com/addrspec/addrspec/origin/webhook"
	"github.com/addrspec/addrspec/wasm/host"
)

// registry returns the metrics of all parts for /metrics. None has a domain, an
// address or a key as a label.
func (s *Service) registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, m := range ledgerMetrics {
		r.MustRegister(m.collector(func() float64 { return m.of(s.ledger.Stats()) }))
	}
	for _, m := range resolverMetrics {
		r.MustRegister(m.collector(func() float64 { return m.of(s.resolver.Stats()) }))
	}
	for _, m := range probeMetrics {
		r.MustRegister(m.collector(func() float64 { return m.of(s.probing) }))
	}
	for _, m := range bodyMetrics {
		r.MustRegister(m.collector(func() float64 { return m.of(s.api) }))
	}
	if s.webhooks != nil {
		for _, m := range webhookMetrics {
			r.MustRegister(m.collector(func() float64 { return m.of(s.webhooks.Stats()) }))
		}
	}
	for _, m := range moduleMetrics {
		r.MustRegister(m.collector(func() float64 { return m.of(s.engine.Stats()) }))
	}
	for _, m := range logMetrics {
		r.MustRegister(m.collector(func() float64 { return m.of(s.log) }))
	}
	for _, m := range listsMetrics {
		r.MustRegister(m.collector(func() float64 { return m.of(s.lists) }))
	}
	r.MustRegister(versions{s}, listsInfo{s.lists}, listsFailures{s.lists})
	return r
}

// A metric is one number of a part's statistics: a counter or a gauge.
type metric[S any] struct {
	name, help string
	counter    bool
	of         func(S) float64
}

func (m metric[S]) collector(value func() float64) prometheus.Collector {
	if m.counter {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: m.name, Help: m.help}, value)
	}
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.name, Help: m.help}, value)
}

var bodyMetrics = []metric[*api.Server]{
	{"addrspec_body_bytes", "Memory reserved for the bodies, results, lookups and responses of requests in progress.", false, func(s *api.Server) float64 { return float64(s.MemoryInUse()) }},
}

var webhookMetrics = []metric[webhook.Stats]{
	{"addrspec_webhook_sent_total", "Webhook messages that their receiver accepted.", true, func(s webhook.Stats) float64 { return float64(s.Sent) }},
	{"addrspec_webhook_failed_total", "Attempts to send a webhook message that failed.", true, func(s webhook.Stats) float64 { return float64(s.Failed) }},
	{"addrspec_webhook_abandoned_total", "Webhook messages that no attempt delivered.", true, func(s webhook.Stats) float64 { return float64(s.Abandoned) }},
}

var ledgerMetrics = []metric[ledger.Stats]{
	{"addrspec_ledger_commits_total", "Transactions committed.", true, func(s ledger.Stats) float64 { return float64(s.Commits) }},
	{"addrspec_ledger_failures_total", "Transactions that failed.", true, func(s ledger.Stats) float64 { return float64(s.Failures) }},
	{"addrspec_ledger_charges_total", "Requests charged.", true, func(s ledger.Stats) float64 { return float64(s.Charges) }},
	{"addrspec_ledger_busy_seconds_total", "Time spent in transactions.", true, func(s ledger.Stats) float64 { return s.Busy.Seconds() }},
	{"addrspec_ledger_reads_total", "Queries for the recent state of accounts and keys.", true, func(s ledger.Stats) float64 { return float64(s.Reads) }},
	{"addrspec_ledger_voided_total", "Charges given back because the client had disconnected.", true, func(s ledger.Stats) float64 { return float64(s.Voided) }},
	{"addrspec_ledger_largest_commit", "The most requests in one transaction.", false, func(s ledger.Stats) float64 { return float64(s.Largest) }},
	{"addrspec_ledger_slowest_seconds", "The longest transaction.", false, func(s ledger.Stats) float64 { return s.Slowest.Seconds() }},
	{"addrspec_ledger_waiting", "Requests waiting for the writer.", false, func(s ledger.Stats) float64 { return float64(s.Waiting) }},
	{"addrspec_ledger_under_way", "Requests in progress.", false, func(s ledger.Stats) float64 { return float64(s.InProgress) }},
	{"addrspec_ledger_views", "Keys whose recent state is in memory.", false, func(s ledger.Stats) float64 { return float64(s.Views) }},
	{"addrspec_ledger_locked", "Accounts that another session has locked in PostgreSQL.", false, func(s ledger.Stats) float64 { return float64(s.Locked) }},
	{"addrspec_ledger_undecided", "Charges that the next commit gives back.", false, func(s ledger.Stats) float64 { return float64(s.Undecided) }},
}

var resolverMetrics = []metric[mx.Stats]{
	{"addrspec_mx_cache_hits_total", "Lookups served from the cache.", true, func(s mx.Stats) float64 { return float64(s.Hits) }},
	{"addrspec_mx_cache_misses_total", "Lookups that started a DNS lookup, since the cache had no response.", true, func(s mx.Stats) float64 { return float64(s.Misses) }},
	{"addrspec_mx_shared_total", "Lookups that joined a DNS lookup in progress.", true, func(s mx.Stats) float64 { return float64(s.Shared) }},
	{"addrspec_mx_stale_total", "Stale results served while resolvers were down (RFC 8767).", true, func(s mx.Stats) float64 { return float64(s.Stale) }},
	{"addrspec_mx_found_total", "DNS lookups that found an MX, or an address where that was sought.", true, func(s mx.Stats) float64 { return float64(s.Found) }},
	{"addrspec_mx_none_total", "DNS lookups that found no MX, or no address.", true, func(s mx.Stats) float64 { return float64(s.None) }},
	{"addrspec_mx_timeouts_total", "DNS lookups without a response in time.", true, func(s mx.Stats) float64 { return float64(s.Timeouts) }},
	{"addrspec_mx_failures_total", "DNS lookups that failed.", true, func(s mx.Stats) float64 { return float64(s.Failures) }},
	{"addrspec_mx_refused_total", "Lookups refused because too many wait, of one account or of all.", true, func(s mx.Stats) float64 { return float64(s.Refused) }},
	{"addrspec_mx_expired_total", "DNS lookups that got no slot in time, once for each account that waited.", true, func(s mx.Stats) float64 { return float64(s.Expired) }},
	{"addrspec_mx_waiting", "DNS lookups that wait for a slot, once for each account that waits.", false, func(s mx.Stats) float64 { return float64(s.Waiting) }},
	{"addrspec_mx_busy_seconds_total", "Time that DNS lookups spent running, in sum.", true, func(s mx.Stats) float64 { return s.Spent.Seconds() }},
	{"addrspec_mx_ignored_total", "Datagrams ignored: forged, late, or not DNS.", true, func(s mx.Stats) float64 { return float64(s.Ignored) }},
	{"addrspec_mx_udp_queries_total", "Queries sent over UDP.", true, func(s mx.Stats) float64 { return float64(s.UDP) }},
	{"addrspec_mx_tcp_queries_total", "Queries sent over TCP.", true, func(s mx.Stats) float64 { return float64(s.TCP) }},
	{"addrspec_mx_in_flight", "DNS lookups that run or wait for a slot.", false, func(s mx.Stats) float64 { return float64(s.InFlight) }},
	{"addrspec_mx_resolvers_lying", "Resolvers that deny the MX records of every domain of --dns-with-mx, which makes mx false where it is true.", false, func(s mx.Stats) float64 { return float64(s.Lying) }},
	{"addrspec_mx_cache_entries", "Results in the cache.", false, func(s mx.Stats) float64 { return float64(s.Entries) }},
}

var probeMetrics = []metric[*resolverWatch]{
	{"addrspec_mx_resolver_answered", "1 once a resolver has responded since the start, 0 before.", false, (*resolverWatch).value},
}

var moduleMetrics = []metric[host.Stats]{
	{"addrspec_module_calls_total", "Calls of the module.", true, func(s host.Stats) float64 { return float64(s.Calls) }},
	{"addrspec_module_waits_total", "Calls that waited for a free instance.", true, func(s host.Stats) float64 { return float64(s.Waits) }},
	{"addrspec_module_waited_seconds_total", "Time that calls waited for a free instance.", true, func(s host.Stats) float64 { return s.Waited.Seconds() }},
	{"addrspec_module_traps_total", "Instances discarded after a trap.", true, func(s host.Stats) float64 { return float64(s.Trapped) }},
}

var logMetrics = []metric[*logging.Log]{
	{"addrspec_log_dropped_lines_total", "Log lines dropped because their reader was too slow or gone.", true, func(l *logging.Log) float64 { return float64(l.Dropped()) }},
}

// versions collects the versions in use as the labels of a constant 1. Lists can
// change while the process runs.
type versions struct{ s *Service }

var versionsDesc = prometheus.NewDesc("addrspec_info", "Versions of the Release, the engine, the lists and the model.", []string{"release", "engine", "lists", "model"}, nil)

// Describe implements prometheus.Collector.
func (v versions) Describe(out chan<- *prometheus.Desc) { out <- versionsDesc }

// Collect implements prometheus.Collector.
func (v versions) Collect(out chan<- prometheus.Metric) {
	info := v.s.engine.View().Info()
	out <- prometheus.MustNewConstMetric(versionsDesc, prometheus.GaugeValue, 1, Release, info.Engine, info.Lists, info.Model)
}

var listsMetrics = []metric[*update.Keeper]{
	{"addrspec_lists_age_seconds", "Age of the lists in use: the time since the day on which their sources were last read.", false, func(k *update.Keeper) float64 { return ListsAge(k.InUse().Version, time.Now()).Seconds() }},
	{"addrspec_lists_expiry_timestamp_seconds", "When the signature of the lists in use expires; 0 without one.", false, func(k *update.Keeper) float64 { return unixSeconds(k.InUse().Expires) }},
	{"addrspec_lists_last_attempt_timestamp_seconds", "When --lists-url was last looked at; 0 if never.", false, func(k *update.Keeper) float64 { return unixSeconds(k.Stats().Attempt) }},
	{"addrspec_lists_last_success_timestamp_seconds", "When looking at --lists-url last succeeded, also with nothing new; 0 if never.", false, func(k *update.Keeper) float64 { return unixSeconds(k.Stats().Success) }},
	{"addrspec_lists_extra_rows", "Rows of --lists-extra in use.", false, func(k *update.Keeper) float64 { return float64(k.InUse().Rows) }},
	{"addrspec_lists_updates_total", "Lists taken into use, from --lists, --lists-extra or --lists-url.", true, func(k *update.Keeper) float64 { return float64(k.Stats().Updates) }},
}

// unixSeconds returns a time for a metric, 0 for none.
func unixSeconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix())
}

// listsInfo collects the lists in use as the labels of a constant 1.
type listsInfo struct{ lists *update.Keeper }

var listsInfoDesc = prometheus.NewDesc("addrspec_lists_info", "The lists in use: their version, where they came from (built-in, file, feed) and whether a signature was verified.", []string{"version", "from", "signed"}, nil)

// Describe implements prometheus.Collector.
func (c listsInfo) Describe(out chan<- *prometheus.Desc) { out <- listsInfoDesc }

// Collect implements prometheus.Collector.
func (c listsInfo) Collect(out chan<- prometheus.Metric) {
	used := c.lists.InUse()
	out <- prometheus.MustNewConstMetric(listsInfoDesc, prometheus.GaugeValue, 1, used.Version, string(used.From), strconv.FormatBool(!used.Signed.IsZero()))
}

// listsFailures collects the failures by reason.
type listsFailures struct{ lists *update.Keeper }

var listsFailuresDesc = prometheus.NewDesc("addrspec_lists_failures_total", "Looks at --lists-url that failed, by reason.", []string{"reason"}, nil)

// Describe implements prometheus.Collector.
func (c listsFailures) Describe(out chan<- *prometheus.Desc) { out <- listsFailuresDesc }

// Collect implements prometheus.Collector.
func (c listsFailures) Collect(out chan<- prometheus.Metric) {
	failures := c.lists.Stats().Failures
	for _, reason := range feed.Reasons {
		out <- prometheus.MustNewConstMetric(listsFailuresDesc, prometheus.CounterValue, float64(failures[reason]), string(reason))
	}
}
