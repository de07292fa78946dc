package command

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	prometheus "github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
)

// Every query of the alerts and the dashboard names metrics and labels that the
// running program exports.
func TestMonitoringUsesExistingMetrics(t *testing.T) {
	t.Parallel()
	metrics := scrape(t)
	for file, queries := range map[string][]string{"alerts.yaml": alertQueries(t), "dashboard.json": dashboardQueries(t)} {
		require.Greater(t, len(queries), 10, file)
		for _, query := range queries {
			require.Empty(t, unknownIn(query, metrics), "%s: %s", file, query)
		}
	}
}

// The check finds what a typing mistake makes of a query.
func TestUnknownMetricsAreFound(t *testing.T) {
	t.Parallel()
	metrics := scrape(t)
	for query, unknown := range map[string]string{
		`rate(addrspec_request_total[5m])`:                          "addrspec_request_total",
		`sum by (path) (rate(addrspec_requests_total[5m]))`:         "label path",
		`addrspec_requests_total{method="GET"}`:                     "addrspec_requests_total{method}",
		`addrspec_request_seconds_bucket{route="singel"}`:           `addrspec_request_seconds_bucket{route="singel"}`,
		`addrspec_connections > 3 and addrspec_ledger_commit > 0.5`: "addrspec_ledger_commit",
	} {
		require.Equal(t, []string{unknown}, unknownIn(query, metrics), query)
	}
}

// scrape returns the metrics of a process that has served both operations.
func scrape(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	p := launchWith(t, nil, "--dns", contract.Serve(t))
	for method, path := range map[string]string{http.MethodGet: "/v1/email/x", http.MethodPost: "/v1/emails"} {
		p.send(t, method, path, "", "", nil)
	}
	_, text := p.send(t, http.MethodGet, "/metrics", "", "", nil)
	parser := expfmt.NewTextParser(prometheus.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err)
	return families
}

var alertExpression = regexp.MustCompile(`(?m)^ +expr: (.+)$`)

func alertQueries(t *testing.T) (list []string) {
	text, err := os.ReadFile("../deploy/alerts.yaml")
	require.NoError(t, err)
	for _, found := range alertExpression.FindAllStringSubmatch(string(text), -1) {
		list = append(list, found[1])
	}
	require.Len(t, list, strings.Count(string(text), "- alert:"))
	return list
}

func dashboardQueries(t *testing.T) (list []string) {
	text, err := os.ReadFile("../deploy/dashboard.json")
	require.NoError(t, err)
	var board struct {
		Panels []struct {
			Title, Description string
			Targets            []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &board))
	for _, panel := range board.Panels {
		require.NotEmpty(t, panel.Targets, panel.Title)
		for _, target := range panel.Targets {
			list = append(list, target.Expr)
		}
	}
	return list
}

var (
	selector = regexp.MustCompile(`\b((?:addrspec|process|go)_[a-z0-9_]+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`([a-z_]+)(!?=~?)"([^"]*)"`)
	grouping = regexp.MustCompile(`\b(?:by|on|without|ignoring) \(([^)]*)\)`)
)

// unknownIn returns the metrics and labels of a query that are not among the
// families. It finds them without parsing PromQL, since Prometheus's parser would
// bring most of Prometheus into go.mod: TestMonitoringFilesAreWellFormed parses.
func unknownIn(query string, families map[string]*dto.MetricFamily) (unknown []string) {
	known := map[string]bool{"instance": true, "job": true, "le": true}
	for _, found := range selector.FindAllStringSubmatch(query, -1) {
		family := families[found[1]]
		if family == nil {
			family = families[strings.TrimSuffix(found[1], "_bucket")]
		}
		if family == nil {
			unknown = append(unknown, found[1])
			continue
		}
		values := labelValues(family)
		for name := range values {
			known[name] = true
		}
		unknown = append(unknown, unknownLabels(found[1], found[2], values)...)
	}
	for _, found := range grouping.FindAllStringSubmatch(query, -1) {
		for _, name := range strings.Split(found[1], ", ") {
			if !known[name] {
				unknown = append(unknown, "label "+name)
			}
		}
	}
	return unknown
}

// unknownLabels returns what a selector compares that the metric does not have. A
// route must exist; a status may not have happened yet.
func unknownLabels(metric, matchers string, values map[string]map[string]bool) (unknown []string) {
	for _, found := range matcher.FindAllStringSubmatch(matchers, -1) {
		name, operator, value := found[1], found[2], found[3]
		switch {
		case name == "job":
		case values[name] == nil:
			unknown = append(unknown, metric+"{"+name+"}")
		case name == "route" && operator == "=" && !values[name][value]:
			unknown = append(unknown, metric+"{"+found[0]+"}")
		}
	}
	return unknown
}

func labelValues(family *dto.MetricFamily) map[string]map[string]bool {
	values := map[string]map[string]bool{}
	for _, m := range family.GetMetric() {
		for _, label := range m.GetLabel() {
			if values[label.GetName()] == nil {
				values[label.GetName()] = map[string]bool{}
			}
			values[label.GetName()][label.GetValue()] = true
		}
	}
	return values
}

// Prometheus's own tool accepts the configuration and the alerts, which it names.
func TestMonitoringFilesAreWellFormed(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("skipped: promtool is not installed; Debian's package prometheus has it")
	}
	cmd := exec.Command(promtool, "check", "config", "prometheus.yml")
	cmd.Dir = "../deploy"
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	rules := `groups: [{name: board, rules: [`
	for _, query := range dashboardQueries(t) {
		text, err := json.Marshal(query)
		require.NoError(t, err)
		rules += `{record: "board:query", expr: ` + string(text) + `},`
	}
	file := t.TempDir() + "/board.yaml"
	require.NoError(t, os.WriteFile(file, []byte(rules+"]}]\n"), 0o600))
	out, err = exec.Command(promtool, "check", "rules", file).CombinedOutput()
	require.NotContains(t, string(out), "parse", string(out))
	_ = err // promtool lint reports that the rules have one name; a query that does not parse is in its output
}
