package main

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/origin/listupdate"
)

var listsMetrics = []metric[*listupdate.Keeper]{
	{"addrspec_lists_age_seconds", "Age of the lists in use: the time since the day on which their sources were last read.", false, func(k *listupdate.Keeper) float64 { return listsAge(k.InUse().Version, time.Now()).Seconds() }},
	{"addrspec_lists_expiry_timestamp_seconds", "When the signature of the lists in use expires; 0 without one.", false, func(k *listupdate.Keeper) float64 { return unixSeconds(k.InUse().Expires) }},
	{"addrspec_lists_last_attempt_timestamp_seconds", "When --lists-url was last looked at; 0 if never.", false, func(k *listupdate.Keeper) float64 { return unixSeconds(k.Stats().Attempt) }},
	{"addrspec_lists_last_success_timestamp_seconds", "When looking at --lists-url last succeeded, also with nothing new; 0 if never.", false, func(k *listupdate.Keeper) float64 { return unixSeconds(k.Stats().Success) }},
	{"addrspec_lists_updates_total", "Lists taken into use, from --lists or --lists-url.", true, func(k *listupdate.Keeper) float64 { return float64(k.Stats().Updates) }},
}

// unixSeconds returns a time for a metric, 0 for none.
func unixSeconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix())
}

// listsInfo collects the lists in use as the labels of a constant 1.
type listsInfo struct{ lists *listupdate.Keeper }

var listsInfoDesc = prometheus.NewDesc("addrspec_lists_info", "The lists in use: their version, where they came from (built-in, file, feed) and whether a signature was verified.", []string{"version", "from", "signed"}, nil)

// Describe implements prometheus.Collector.
func (c listsInfo) Describe(out chan<- *prometheus.Desc) { out <- listsInfoDesc }

// Collect implements prometheus.Collector.
func (c listsInfo) Collect(out chan<- prometheus.Metric) {
	used := c.lists.InUse()
	out <- prometheus.MustNewConstMetric(listsInfoDesc, prometheus.GaugeValue, 1, used.Version, string(used.From), strconv.FormatBool(!used.Signed.IsZero()))
}

// listsFailures collects the failures by reason.
type listsFailures struct{ lists *listupdate.Keeper }

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
