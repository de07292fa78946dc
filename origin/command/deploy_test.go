package command

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	prometheus "github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists/feed/feedtest"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

func replaced(t *testing.T, file string, pairs ...string) string {
	t.Helper()
	text := textOf(t, file)
	for n := 0; n < len(pairs); n += 2 {
		require.Contains(t, text, pairs[n], file)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// What is shipped does not believe a resolver that lies. What stops a service waits longer than it
// drains, finishes and closes.
func TestShippedConfigurations(t *testing.T) {
	t.Parallel()
	require.Contains(t, textOf(t, "../deploy/addrspec.service"), "\nEnvironment=ADDRSPEC_DNS_STRICT=true\n")
	require.Contains(t, textOf(t, "../deploy/compose.yaml"), "\n    ADDRSPEC_DNS_STRICT: \"true\"\n")
	require.Contains(t, textOf(t, "../deploy/Dockerfile"), "    ADDRSPEC_DNS_STRICT=true\n")
	const graceAndClose = 15 + 5 // seconds, the defaults of --grace and package service
	for file, times := range map[string]string{
		"addrspec.service": `(?s)ADDRSPEC_DRAIN=(\d+)s.*TimeoutStopSec=(\d+)\n`,
		"compose.yaml":     `(?s)ADDRSPEC_DRAIN: (\d+)s.*stop_grace_period: (\d+)s`,
	} {
		found := regexp.MustCompile(times).FindStringSubmatch(textOf(t, "../deploy/"+file))
		require.NotNil(t, found, file)
		drain, _ := strconv.Atoi(found[1])
		stop, _ := strconv.Atoi(found[2])
		require.Greater(t, stop, drain+graceAndClose, file)
	}
}

// systemd accepts the unit without a remark, and finds it as closed as the handbook
// says.
func TestUnitIsValid(t *testing.T) {
	t.Parallel()
	analyze := moduletest.Tool(t, "systemd-analyze")
	self := must(os.Executable())(t) // verify requires that the program exists
	file := fileOf(t, "addrspec.service", replaced(t, "../deploy/addrspec.service", "/usr/local/bin/addrspec", self))
	out, err := exec.Command(analyze, "verify", "--man=no", file).CombinedOutput()
	require.NoError(t, err, string(out))
	require.NotContains(t, string(out), "addrspec.service")
	out, err = exec.Command(analyze, "security", "--offline=yes", "--no-pager", file).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Regexp(t, `Overall exposure level for addrspec\.service: [01]\.\d`, string(out))
}

// The build of the container gets every file of the repository and no secret. The
// matcher is Docker's own.
func TestContainerBuildContext(t *testing.T) {
	t.Parallel()
	file := must(os.Open("../../.dockerignore"))(t)
	defer file.Close()
	patterns := must(ignorefile.ReadAll(file))(t)
	matcher := must(patternmatcher.New(patterns))(t)
	requireIgnored := func(want bool, paths []string) {
		for _, path := range paths {
			is := must(matcher.MatchesOrParentMatches(filepath.FromSlash(path)))(t)
			require.Equal(t, want, is, path)
		}
	}
	requireIgnored(true, []string{".git/config", "data/addrspec.db", "origin/deploy/pgpass",
		"origin/deploy/database-password", "lists.key", "addrspec.env",
		"dist/addrspec", "wasm/module/addrspec.wasm", "edge/node_modules/esbuild/package.json",
		"wasm/bindings/rust/target/debug/x"})
	tracked, err := exec.Command("git", "-C", "../..", "ls-files").Output()
	if err != nil {
		t.Skip("skipped: this is not a checkout of git")
	}
	files := strings.Fields(string(tracked))
	require.Greater(t, len(files), 500)
	requireIgnored(false, files)
}

var (
	testNames    = regexp.MustCompile("`(?:[a-z/]+: )?(Test[A-Za-z]+)(…?)`")
	links        = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// Every test that the handbook names exists, so that its "how it was run" stays
// true, and every file that it links to. Left out is dist, whose changes would make Go run this
// package's tests again.
func TestHandbookNamesExistingTests(t *testing.T) {
	t.Parallel()
	existing := " "
	for _, room := range []string{"core", "wasm", "origin", "edge", "lists"} {
		require.NoError(t, filepath.WalkDir("../../"+room, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.Name() == "node_modules":
				return fs.SkipDir
			case strings.HasSuffix(path, "_test.go"):
				for _, found := range testFunction.FindAllStringSubmatch(textOf(t, path), -1) {
					existing += found[1] + " "
				}
			}
			return nil
		}))
	}
	require.Greater(t, strings.Count(existing, " "), 300)
	pages := must(filepath.Glob("../deploy/*.md"))(t)
	named, checked := 0, 0
	for _, page := range pages {
		text := textOf(t, page)
		for _, found := range testNames.FindAllStringSubmatch(text, -1) {
			name := " " + found[1]
			if found[2] == "" { // the whole name
				name += " "
			}
			require.True(t, strings.Contains(existing, name), "%s names %s", page, found[1])
			named++
		}
		for _, found := range links.FindAllStringSubmatch(text, -1) {
			checked++
			require.FileExists(t, filepath.Join(filepath.Dir(page), filepath.FromSlash(found[1])), page)
		}
	}
	require.Greater(t, named, 10)
	require.Greater(t, checked, 30)
}

// Each row of what a caller can hold names what shows its limit.
func TestEveryLimitHasATest(t *testing.T) {
	t.Parallel()
	_, section, found := strings.Cut(textOf(t, "../deploy/threats.md"), "## What each caller can hold\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile(`(?m)^\|.*\|$`).FindAllString(section, -1)
	require.Greater(t, len(rows), 40)
	for _, row := range rows[2:] { // after the head
		cells := strings.Split(row, "|")
		require.Len(t, cells, 7, row)
		require.Regexp(t, "`.*(Test|Fuzz)|soak `|contract cases `", cells[5], row)
	}
}

// Whatever explains mx says that a domain without MX records may take mail (RFC 5321
// section 5.1): people delete addresses for what they read there.
func TestExplanationsOfMXNameTheAddressRecord(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"../../README.md", "../check/README.md", "../mcp/README.md", "../mcp/text.go", "../../wasm/result/words.go", "../dashboard/templates/lists.html",
		"../api/openapi.json", "../api/openapi-edge.json", "../deploy/hooks.md", "../dashboard/docs/reference/result.md",
		"../dashboard/docs/guides/start.md", "../dashboard/docs/guides/lists.md", "../dashboard/docs/examples/clean-list/main.go",
		"../dashboard/docs/examples/clean-list/example.py", "../dashboard/docs/examples/clean-list/example.mjs",
		"../../edge/README.md", "../../wasm/ABI.md", "../../wasm/bindings/README.md",
	} {
		text := textOf(t, file)
		require.Regexp(t, `address\s+record(,? if\s+it\s+has| \(RFC 5321)|may still go to its address record`, text,
			file)
		require.NotRegexp(t, "(?i)mx`? is false \\| (remove|the domain (has no mail server|takes no mail))", text, file)
		require.NotContains(t, text, "false: the domain most likely", file)
	}
}

// Every query of the alerts and the dashboard names metrics and labels that the
// running program exports. A typing mistake in a query is found.
func TestMonitoringUsesExistingMetrics(t *testing.T) {
	t.Parallel()
	p := start(t, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{}))
	p.send(t, http.MethodGet, "/v1/email/x", "", "", nil)
	p.send(t, http.MethodPost, "/v1/emails", "", "", nil)
	_, text := p.send(t, http.MethodGet, "/metrics", "", "", nil)
	parser := expfmt.NewTextParser(prometheus.LegacyValidation)
	metrics := must(parser.TextToMetricFamilies(strings.NewReader(text)))(t)
	for file, queries := range map[string][]string{"alerts.yaml": alertQueries(t), "dashboard.json": dashboardQueries(t)} {
		require.Greater(t, len(queries), 10, file)
		for _, query := range queries {
			require.Empty(t, unknownIn(query, metrics), "%s: %s", file, query)
		}
	}
	for query, unknown := range map[string]string{
		`sum by (path) (rate(addrspec_requests_total[5m]))`:         "path",
		`addrspec_requests_total{method="GET"}`:                     "method",
		`addrspec_request_seconds_bucket{route="singel"}`:           `route="singel"`,
		`addrspec_connections > 3 and addrspec_ledger_commit > 0.5`: "addrspec_ledger_commit",
	} {
		require.Equal(t, []string{unknown}, unknownIn(query, metrics), query)
	}
}

func alertQueries(t *testing.T) (list []string) {
	text := textOf(t, "../deploy/alerts.yaml")
	for _, found := range regexp.MustCompile(`(?m)^ +expr: (.+)$`).FindAllStringSubmatch(text, -1) {
		list = append(list, found[1])
	}
	severity := regexp.MustCompile(`(?m)^        labels: {severity: (?:critical|warning)}\n        annotations:$`)
	require.Len(t, list, strings.Count(text, "- alert:"))
	require.Len(t, severity.FindAllString(text, -1), len(list))
	return list
}

func dashboardQueries(t *testing.T) (list []string) {
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(textOf(t, "../deploy/dashboard.json")), &board))
	for _, panel := range board.Panels {
		require.NotEmpty(t, panel.Targets, panel.Title)
		for _, target := range panel.Targets {
			list = append(list, target.Expr)
		}
	}
	return list
}

var (
	matcher = regexp.MustCompile(`([a-z_]+)(!?=~?)"([^"]*)"`)
	word    = regexp.MustCompile(`\b[A-Za-z_][A-Za-z0-9_]*`)
	promQL  = strings.Fields("and by histogram_quantile increase instance job le or rate sum time up")
)

// unknownIn returns the words of a query that are no metric, no label of the families and no word of PromQL, and the
// routes that no metric has. It finds them without parsing PromQL, since Prometheus's parser would bring most of
// Prometheus into go.mod: TestMonitoringFilesAreWellFormed parses.
func unknownIn(query string, families map[string]*dto.MetricFamily) (unknown []string) {
	known := map[string]bool{}
	for _, name := range promQL {
		known[name] = true
	}
	for name, family := range families {
		known[name], known[name+"_bucket"] = true, family.GetType() == dto.MetricType_HISTOGRAM
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				known[label.GetName()], known[label.GetName()+"="+label.GetValue()] = true, true
			}
		}
	}
	for _, label := range matcher.FindAllStringSubmatch(query, -1) {
		if label[1] == "route" && label[2] == "=" && !known["route="+label[3]] { // a status may not have happened yet
			unknown = append(unknown, label[0])
		}
	}
	for _, name := range word.FindAllString(regexp.MustCompile(`"[^"]*"|\[\w+\]`).ReplaceAllString(query, ""), -1) {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// Prometheus's own tool accepts the configuration and the alerts, which it names.
func TestMonitoringFilesAreWellFormed(t *testing.T) {
	leftToCI(t)
	t.Parallel()
	promtool := moduletest.Tool(t, "promtool")
	cmd := exec.Command(promtool, "check", "config", "prometheus.yml")
	cmd.Dir = "../deploy"
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	rules := `groups: [{name: board, rules: [`
	for _, query := range dashboardQueries(t) {
		text := must(json.Marshal(query))(t)
		rules += `{record: "board:query", expr: ` + string(text) + `},`
	}
	out, _ = exec.Command(promtool, "check", "rules", fileOf(t, "board.yaml", rules+"]}]\n")).CombinedOutput()
	require.NotContains(t, string(out), "parse",
		"its lint reports that the rules have one name; a query that does not parse is in its output")
}

// The alert on old lists fires at the age at which doctor advises, and the metric
// of a service with such lists reaches it.
func TestAlertOnOldLists(t *testing.T) {
	t.Parallel()
	days := int(service.AgingLists.Hours() / 24)
	require.Contains(t, textOf(t, "../deploy/alerts.yaml"), fmt.Sprintf("addrspec_lists_age_seconds > %d * 86400\n", days))
	day := time.Now().UTC().AddDate(0, 0, -days).Format("2006.01.02")
	lists := fileOf(t, "lists.blob", string(feedtest.Dated(ownLists(t), day)))
	age := start(t, "--dns", contract.Serve(t), "--lists", lists).metric(t, "addrspec_lists_age_seconds") / 86400
	require.True(t, age > float64(days) && age < float64(days)+2, age)
}
