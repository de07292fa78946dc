package command

import (
	"encoding/json"
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
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/service"
)

func textOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// replaced returns a file of deploy with the values that a test needs instead of
// its own, each of which it must have.
func replaced(t *testing.T, file string, pairs ...string) string {
	t.Helper()
	text := textOf(t, file)
	for n := 0; n < len(pairs); n += 2 {
		require.Contains(t, text, pairs[n], file)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// What is shipped does not believe a resolver that lies.
func TestShippedConfigurationsAreStrict(t *testing.T) {
	t.Parallel()
	require.Contains(t, textOf(t, "../deploy/addrspec.service"), "\nEnvironment=ADDRSPEC_DNS_STRICT=true\n")
	require.Contains(t, textOf(t, "../deploy/compose.yaml"), "\n    ADDRSPEC_DNS_STRICT: \"true\"\n")
	require.Contains(t, textOf(t, "../deploy/Dockerfile"), "    ADDRSPEC_DNS_STRICT=true\n")
}

// What stops a service waits longer than it drains, finishes and closes.
func TestShippedTimesOfAStop(t *testing.T) {
	t.Parallel()
	const graceAndClose = 15*time.Second + 5*time.Second // the defaults of --grace and package service
	for file, times := range map[string]*regexp.Regexp{
		"addrspec.service": regexp.MustCompile(`(?s)ADDRSPEC_DRAIN=(\d+)s.*TimeoutStopSec=(\d+)\n`),
		"compose.yaml":     regexp.MustCompile(`(?s)ADDRSPEC_DRAIN: (\d+)s.*stop_grace_period: (\d+)s`),
	} {
		found := times.FindStringSubmatch(textOf(t, "../deploy/"+file))
		require.NotNil(t, found, file)
		drain, _ := strconv.Atoi(found[1])
		stop, _ := strconv.Atoi(found[2])
		require.Greater(t, time.Duration(stop)*time.Second, time.Duration(drain)*time.Second+graceAndClose, file)
	}
}

// systemd accepts the unit without a remark, and finds it as closed as the handbook
// says.
func TestUnitIsValid(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("skipped: systemd-analyze is not installed; Debian's package systemd has it")
	}
	self, err := os.Executable() // verify requires that the program exists
	require.NoError(t, err)
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
	file, err := os.Open("../../.dockerignore")
	require.NoError(t, err)
	defer file.Close()
	patterns, err := ignorefile.ReadAll(file)
	require.NoError(t, err)
	matcher, err := patternmatcher.New(patterns)
	require.NoError(t, err)
	requireIgnored := func(want bool, paths []string) {
		for _, path := range paths {
			is, err := matcher.MatchesOrParentMatches(filepath.FromSlash(path))
			require.NoError(t, err)
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
// true, and every file that it links to.
func TestHandbookNamesExistingTests(t *testing.T) {
	t.Parallel()
	existing := " " + strings.Join(testFunctions(t), " ") + " "
	pages, err := filepath.Glob("../deploy/*.md")
	require.NoError(t, err)
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

// testFunctions returns the names of all tests of the repository. It leaves out dist, whose
// changes would make Go run this package's tests again.
func testFunctions(t *testing.T) (names []string) {
	t.Helper()
	for _, room := range []string{"core", "wasm", "origin", "edge", "lists"} {
		require.NoError(t, filepath.WalkDir("../../"+room, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.Name() == "node_modules":
				return fs.SkipDir
			case !strings.HasSuffix(path, "_test.go"):
				return nil
			}
			for _, found := range testFunction.FindAllStringSubmatch(textOf(t, path), -1) {
				names = append(names, found[1])
			}
			return nil
		}))
	}
	require.Greater(t, len(names), 300)
	return names
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
	p := launch(t, nil, "--dns", contract.Serve(t), "--hooks", hooksFile(t, anyObject{}))
	p.send(t, http.MethodGet, "/v1/email/x", "", "", nil)
	p.send(t, http.MethodPost, "/v1/emails", "", "", nil)
	_, text := p.send(t, http.MethodGet, "/metrics", "", "", nil)
	parser := expfmt.NewTextParser(prometheus.LegacyValidation)
	metrics, err := parser.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err)
	for file, queries := range map[string][]string{"alerts.yaml": alertQueries(t), "dashboard.json": dashboardQueries(t)} {
		require.Greater(t, len(queries), 10, file)
		for _, query := range queries {
			require.Empty(t, unknownIn(query, metrics), "%s: %s", file, query)
		}
	}
	for query, unknown := range map[string]string{
		`sum by (path) (rate(addrspec_requests_total[5m]))`:         "label path",
		`addrspec_requests_total{method="GET"}`:                     "addrspec_requests_total{method}",
		`addrspec_request_seconds_bucket{route="singel"}`:           `addrspec_request_seconds_bucket{route="singel"}`,
		`addrspec_connections > 3 and addrspec_ledger_commit > 0.5`: "addrspec_ledger_commit",
	} {
		require.Equal(t, []string{unknown}, unknownIn(query, metrics), query)
	}
}

var alertSeverity = regexp.MustCompile(`(?m)^        labels: {severity: (?:critical|warning)}\n        annotations:$`)

var alertExpression = regexp.MustCompile(`(?m)^ +expr: (.+)$`)

func alertQueries(t *testing.T) (list []string) {
	text := textOf(t, "../deploy/alerts.yaml")
	for _, found := range alertExpression.FindAllStringSubmatch(text, -1) {
		list = append(list, found[1])
	}
	require.Len(t, list, strings.Count(text, "- alert:"))
	require.Len(t, alertSeverity.FindAllString(text, -1), len(list))
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
		values := map[string]string{} // of each label, with a space around each
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				known[label.GetName()] = true
				values[label.GetName()] += " " + label.GetValue() + " "
			}
		}
		for _, label := range matcher.FindAllStringSubmatch(found[2], -1) {
			switch name := label[1]; {
			case name == "job":
			case values[name] == "":
				unknown = append(unknown, found[1]+"{"+name+"}")
			// a status may not have happened yet
			case name == "route" && label[2] == "=" && !strings.Contains(values[name], " "+label[3]+" "):
				unknown = append(unknown, found[1]+"{"+label[0]+"}")
			}
		}
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
	out, _ = exec.Command(promtool, "check", "rules", fileOf(t, "board.yaml", rules+"]}]\n")).CombinedOutput()
	require.NotContains(t, string(out), "parse",
		"its lint reports that the rules have one name; a query that does not parse is in its output")
}

// The alert on old lists fires at the age at which doctor advises, and the metric
// of a service with such lists reaches it.
func TestAlertOnOldLists(t *testing.T) {
	t.Parallel()
	threshold := regexp.MustCompile(`addrspec_lists_age_seconds > (\d+) \* 86400\n`)
	found := threshold.FindStringSubmatch(textOf(t, "../deploy/alerts.yaml"))
	require.NotNil(t, found)
	limit, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	require.Equal(t, service.AgingLists.Hours()/24, limit)
	for age, fires := range map[int]bool{13: false, 14: true} {
		day := time.Now().UTC().AddDate(0, 0, -age).Format("2006.01.02")
		lists := fileOf(t, "lists.blob", string(feedtest.Dated(ownLists(t), day)))
		s := start(t, "--dns", contract.Serve(t), "--lists", lists)
		require.Equal(t, fires, s.metric(t, "addrspec_lists_age_seconds") > limit*86400, age)
	}
}

// The commands of the handbook move an account to a second cluster, with its points, and
// leave the others where they are.
func TestSecondClusterOfTheHandbook(t *testing.T) {
	t.Parallel()
	section := regexp.MustCompile("(?s)\n## A second cluster\n.*?\n```sh\n(.*?)```\n")
	commands := section.FindStringSubmatch(textOf(t, "../deploy/sizing.md"))
	require.NotNil(t, commands)
	directory := t.TempDir()
	a, b := "sqlite:"+filepath.Join(directory, "a.db"), pgtest.NeedDatabase(t)
	service := ledgertest.Open(t, a)
	mover, stayer := ledgertest.NewAccount(t, service, "mover@example.com"), ledgertest.NewAccount(t, service, "stayer@example.com")
	for _, key := range []string{mover, stayer} {
		r, _, err := service.Begin(t.Context(), key, "")
		require.NoError(t, err)
		_, err = r.Claim(7, nil)
		require.NoError(t, err)
		_, err = r.Charge(ledger.Charge{Points: 7})
		require.NoError(t, err)
		r.End()
	}
	require.NoError(t, os.Symlink(os.Args[0], filepath.Join(directory, "addrspec")))
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", commands[1])
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), programVariable+"=1", "PATH="+directory+":"+os.Getenv("PATH"),
		"A="+a, "B="+b, "OWNER=mover@example.com", "STAYS=stayer@example.com")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoFileExists(t, filepath.Join(directory, "move.ndjson.gz"))

	first, second := ledgertest.Open(t, a), ledgertest.Open(t, b) // which know no key yet
	for at, keys := range map[*ledger.Ledger][2]string{first: {stayer, mover}, second: {mover, stayer}} {
		r, d, err := at.Begin(t.Context(), keys[0], "")
		require.NoError(t, err)
		require.EqualValues(t, 7, d.Usage.Current)
		r.End()
		_, d, err = at.Begin(t.Context(), keys[1], "")
		require.NoError(t, err)
		require.Equal(t, ledger.UnknownKey, d.Kind)
	}
}
