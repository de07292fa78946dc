package service

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/origin/ledger/archive"
)

// metrics collects the statistics of all parts for /metrics, beside what package api counts.
// None has a domain, an address or a key as a label.
type metrics struct{ *Service }

// Describe implements prometheus.Collector.
func (s metrics) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(s, out) }

// emit sends a metric, which is a counter if its name ends with _total, else a gauge. Its labels
// are pairs of name and value.
func emit(out chan<- prometheus.Metric, name, help string, value float64, labels ...string) {
	kind := prometheus.GaugeValue
	if strings.HasSuffix(name, "_total") {
		kind = prometheus.CounterValue
	}
	var names, values []string
	for pair := range slices.Chunk(labels, 2) {
		names, values = append(names, pair[0]), append(values, pair[1])
	}
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
}

// Collect implements prometheus.Collector.
func (s metrics) Collect(out chan<- prometheus.Metric) {
	ledger := s.ledger.Stats()
	emit(out, "addrspec_ledger_commits_total", "Transactions committed.", float64(ledger.Commits))
	emit(out, "addrspec_ledger_failures_total", "Transactions that failed.", float64(ledger.Failures))
	emit(out, "addrspec_ledger_charges_total", "Requests charged.", float64(ledger.Charges))
	emit(out, "addrspec_ledger_busy_seconds_total", "Time spent in transactions.", ledger.Busy.Seconds())
	emit(out, "addrspec_ledger_reads_total",
		"Queries for the recent state of accounts and keys.", float64(ledger.Reads))
	emit(out, "addrspec_ledger_voided_total",
		"Charges given back because the client had disconnected.", float64(ledger.Voided))
	emit(out, "addrspec_ledger_largest_commit", "The most requests in one transaction.", float64(ledger.Largest))
	emit(out, "addrspec_ledger_slowest_seconds", "The longest transaction.", ledger.Slowest.Seconds())
	emit(out, "addrspec_ledger_waiting", "Requests waiting for the writer.", float64(ledger.Waiting))
	emit(out, "addrspec_ledger_in_progress", "Requests in progress.", float64(ledger.InProgress))
	emit(out, "addrspec_ledger_views", "Keys whose recent state is in memory.", float64(ledger.Views))
	emit(out, "addrspec_ledger_locked",
		"Accounts that another session has locked in PostgreSQL.", float64(ledger.Locked))
	emit(out, "addrspec_ledger_undecided", "Charges that the next commit gives back.", float64(ledger.Undecided))

	if path := s.SQLiteFile(); path != "" {
		emit(out, "addrspec_backup_last_success_timestamp_seconds",
			"When addrspec backup last copied the ledger; 0 if never.", unixSeconds(archive.LastBackup(path)))
	}

	responded, mx := 0.0, s.resolver.Stats()
	if s.probing.succeeded.Load() {
		responded = 1
	}
	emit(out, "addrspec_mx_resolver_answered", "1 once a resolver has responded since the start, 0 before.", responded)
	emit(out, "addrspec_mx_cache_hits_total", "Lookups served from the cache.", float64(mx.Hits))
	emit(out, "addrspec_mx_cache_misses_total",
		"Lookups that started a DNS lookup, since the cache had no response.", float64(mx.Misses))
	emit(out, "addrspec_mx_shared_total", "Lookups that joined a DNS lookup in progress.", float64(mx.Shared))
	emit(out, "addrspec_mx_stale_total",
		"Stale results served while resolvers were down (RFC 8767).", float64(mx.Stale))
	emit(out, "addrspec_mx_found_total",
		"DNS lookups that found an MX, or an address where that was sought.", float64(mx.Found))
	emit(out, "addrspec_mx_none_total", "DNS lookups that found no MX, or no address.", float64(mx.None))
	emit(out, "addrspec_mx_timeouts_total", "DNS lookups without a response in time.", float64(mx.Timeouts))
	emit(out, "addrspec_mx_failures_total", "DNS lookups that failed.", float64(mx.Failures))
	emit(out, "addrspec_mx_refused_total",
		"Lookups refused because too many wait, of one account or of all.", float64(mx.Refused))
	emit(out, "addrspec_mx_expired_total",
		"DNS lookups that got no slot in time, once for each account that waited.", float64(mx.Expired))
	emit(out, "addrspec_mx_waiting",
		"DNS lookups that wait for a slot, once for each account that waits.", float64(mx.Waiting))
	emit(out, "addrspec_mx_busy_seconds_total", "Time that DNS lookups spent running, in sum.", mx.Spent.Seconds())
	emit(out, "addrspec_mx_ignored_total", "Datagrams ignored: forged, late, or not DNS.", float64(mx.Ignored))
	emit(out, "addrspec_mx_udp_queries_total", "Queries sent over UDP.", float64(mx.UDP))
	emit(out, "addrspec_mx_tcp_queries_total", "Queries sent over TCP.", float64(mx.TCP))
	emit(out, "addrspec_mx_in_flight", "DNS lookups that run or wait for a slot.", float64(mx.InFlight))
	emit(out, "addrspec_mx_resolvers_lying",
		"Resolvers that deny the MX records of every domain of --dns-with-mx, which makes mx false where it is true.",
		float64(mx.Lying))
	emit(out, "addrspec_mx_cache_entries", "Results in the cache.", float64(mx.Entries))

	s.collectModule(out)
	emit(out, "addrspec_body_bytes",
		"Memory reserved for the bodies, results, lookups and responses of requests in progress.",
		float64(s.api.MemoryInUse()))
	emit(out, "addrspec_log_dropped_lines_total",
		"Log lines dropped: their reader was too slow or gone, or warnings and errors were too many.",
		float64(s.log.Dropped()))
	if s.sendsWebhooks() {
		sent := s.webhooks.Stats()
		emit(out, "addrspec_webhook_sent_total", "Webhook messages that their receiver accepted.", float64(sent.Sent))
		emit(out, "addrspec_webhook_failed_total",
			"Attempts to send a webhook message that failed.", float64(sent.Failed))
		emit(out, "addrspec_webhook_abandoned_total",
			"Webhook messages that no attempt delivered.", float64(sent.Abandoned))
	}
}

// collectModule collects the metrics of the module and its lists, which can change while
// the process runs.
func (s metrics) collectModule(out chan<- prometheus.Metric) {
	module, info := s.engine.Stats(), s.engine.View().Info()
	emit(out, "addrspec_info", "Versions of the Release, the engine, the lists and the model.", 1,
		"release", Release, "engine", info.Engine, "lists", info.Lists, "model", info.Model)
	emit(out, "addrspec_module_calls_total", "Calls of the module.", float64(module.Calls))
	emit(out, "addrspec_module_waits_total", "Calls that waited for a free instance.", float64(module.Waits))
	emit(out, "addrspec_module_waited_seconds_total",
		"Time that calls waited for a free instance.", module.Waited.Seconds())
	emit(out, "addrspec_module_traps_total", "Instances discarded after a trap.", float64(module.Trapped))

	lists, looks := s.lists.InUse(), s.lists.Stats()
	emit(out, "addrspec_lists_info",
		"The lists in use: their version, where they came from (built-in, file, feed) and whether a signature was verified.",
		1,
		"version", lists.Version, "from", string(lists.From), "signed", strconv.FormatBool(!lists.Signed.IsZero()))
	for _, reason := range feed.Reasons {
		emit(out, "addrspec_lists_failures_total",
			"Looks at --lists-url that failed, by reason.", float64(looks.Failures[reason]),
			"reason", string(reason))
	}
	emit(out, "addrspec_lists_age_seconds",
		"Age of the lists in use: the time since the day on which their sources were last read.",
		ListsAge(lists.Version, time.Now()).Seconds())
	emit(out, "addrspec_lists_expiry_timestamp_seconds",
		"When the signature of the lists in use expires; 0 without one.", unixSeconds(lists.Expires))
	emit(out, "addrspec_lists_last_attempt_timestamp_seconds",
		"When --lists-url was last looked at; 0 if never.", unixSeconds(looks.Attempt))
	emit(out, "addrspec_lists_last_success_timestamp_seconds",
		"When looking at --lists-url last succeeded, also with nothing new; 0 if never.", unixSeconds(looks.Success))
	emit(out, "addrspec_lists_extra_rows", "Rows of --lists-extra in use.", float64(lists.Rows))
	emit(out, "addrspec_lists_updates_total",
		"Lists taken into use, from --lists, --lists-extra or --lists-url.", float64(looks.Updates))
}

// unixSeconds returns a time for a metric, 0 for none.
func unixSeconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix())
}
