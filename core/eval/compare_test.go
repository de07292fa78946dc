package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core/eval/peers"
)

// Without npm, Python and Go nothing can be installed: ours is printed all the same,
// and every peer is named with the reason.
func TestWithoutRegistriesOursIsPrinted(t *testing.T) {
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
	atRoot(t)
	t.Setenv("PATH", t.TempDir())
	installer := &peers.Installer{Root: "core/eval/peers", Build: t.TempDir()}
	outcomes, err := compareAll(context.Background(), "core/eval/data", peers.All(), installer)
	require.NoError(t, err)
	require.Len(t, outcomes, len(comparisons))
	for format, print := range map[string]printer{"text": printText, "markdown": printMarkdown} {
		var out bytes.Buffer
		require.NoError(t, print(&out, outcomes))
		require.Equal(t, len(comparisons), strings.Count(out.String(), "\naddrspec ")+strings.Count(out.String(), "\n| addrspec "), format)
		for _, p := range peers.All() {
			require.Contains(t, out.String(), "left out: "+p.String()+": ", format)
		}
		require.Contains(t, out.String(), "left out: mailcheck (npm): node is not installed", format)
		require.Contains(t, out.String(), "left out: nostril-detector (PyPI): python3 is not installed", format)
	}
}

func TestEveryQuestionIsCompared(t *testing.T) {
	atRoot(t)
	asked := map[peers.Question]bool{}
	for _, read := range comparisons {
		c, err := read("core/eval/data")
		require.NoError(t, err)
		results := c.ask(context.Background(), ours(c))
		o := compared{comparison: c}
		o.add("addrspec", "0", results, results)
		require.Len(t, o.lines[0].cells, len(c.columns), c.title)
		asked[c.question] = true
	}
	for _, p := range peers.All() {
		for _, q := range p.Questions {
			require.True(t, asked[q], q)
		}
	}
}

func TestInterruptEndsTheComparison(t *testing.T) {
	atRoot(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := compareAll(ctx, "core/eval/data", nil, &peers.Installer{})
	require.ErrorIs(t, err, context.Canceled)
}

func ours(c *comparison) entrant {
	return entrant{name: "addrspec", ask: func(_ peers.Question, value string) peers.Result { return c.own(value) }}
}

var none = peers.Result{None: "crashed"}

// cellsOf asks a comparison that was read, with examples in place of its own.
func cellsOf(t *testing.T, read func(string) (*comparison, error), examples []example, results, ours []peers.Result) compared {
	atRoot(t)
	c, err := read("core/eval/data")
	require.NoError(t, err)
	c.examples = examples
	o := compared{comparison: c}
	o.add("x", "1.0.0", results, ours)
	return o
}

func TestRowsWithoutResultAreCountedAsSuch(t *testing.T) {
	o := cellsOf(t, compareFormat, []example{
		{group: "suites", yes: true}, {group: "suites", yes: true}, {group: "suites"}, {group: "suites"}, {group: "classes"},
	}, []peers.Result{{Yes: true}, none, {Yes: true}, none, {}}, nil)
	require.Equal(t, []string{"25.0", "1", "0", "100"}, o.lines[0].cells)
	require.Equal(t, []string{"x has no result for 2 rows, for the first because: crashed"}, o.remarks())
}

func TestGibberishIsMeasuredAtTheSameFlaggedShare(t *testing.T) {
	var examples []example
	for _, group := range []string{"people", "people", "people", "people", "random", "random", "relay"} {
		examples = append(examples, example{group: group})
	}
	ours := []peers.Result{{}, {}, {}, {Yes: true}, {}, {}, {}}
	results := []peers.Result{{Score: 1}, {Score: 2}, none, {Score: 5, Yes: true}, {Score: 3}, none, {Score: 9, Yes: true}}
	// Of 8 pairs the first random string wins 3, the one without a result ties with one.
	require.Equal(t, []string{"0.4375", "25.0", "0", "50.0", "0", "100"}, cellsOf(t, compareGibberish, examples, results, ours).lines[0].cells)
}

func TestTypoCountsRightWrongAndFlagged(t *testing.T) {
	examples := []example{
		{group: "misspelled", value: "gmial.com", text: "gmail.com"}, {group: "misspelled", value: "gmali.com", text: "gmail.com"},
		{group: "real", value: "gmx.com"}, {group: "real", value: "aol.com"},
		{group: "seen", value: "gmil.com", text: "gmail.com"}, {group: "seen-real", value: "mac.lan"},
	}
	results := []peers.Result{{Text: "gmail.com"}, {Text: "mail.com"}, {Text: "gmx.com"}, {Text: "aol.de"}, none, {Text: "mac.com"}}
	require.Equal(t, []string{"50.0", "50.0", "50.0", "0", "0", "1"}, cellsOf(t, compareTypo, examples, results, nil).lines[0].cells)
}

func TestCanonicalComparesPairs(t *testing.T) {
	examples := []example{{group: "same"}, {group: "second"}, {group: "same"}, {group: "second"}, {group: "other"}, {group: "second"}}
	results := []peers.Result{{Text: "a"}, {Text: "a"}, none, none, {Text: "b"}, {Text: "b"}}
	o := cellsOf(t, compareCanonical, examples, results, results)
	require.Equal(t, []string{"50.0", "1"}, o.lines[0].cells)
	require.Equal(t, 2, o.lines[0].missing)
}

func TestShareShowsSmallAndLargeOnes(t *testing.T) {
	for want, s := range map[string]float64{"0": 0, "100": 1, "97.6": .976, "0.14": .00144, "99.95": .9995, "99.99": .99999, "1.0": .01} {
		require.Equal(t, want, share(s))
	}
}

func TestNetMailTakesNoDisplayName(t *testing.T) {
	for value, want := range map[string]bool{
		"jane@example.com": true, "Jane <jane@example.com>": false, "<jane@example.com>": false, "jane": false,
	} {
		require.Equal(t, want, netMail.ask(peers.Valid, value).Yes, value)
	}
}

func TestReadmeKeepsWhatIsAroundTheTables(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("core/eval", 0o755))
	outcomes := []compared{{comparison: &comparison{title: "typo", note: "rows", columns: []column{{title: "right"}}}}}
	require.NoError(t, os.WriteFile(readme, []byte("before\n"), 0o644))
	require.ErrorContains(t, updateReadme(nil, outcomes), "the lines around the tables are missing")
	require.NoError(t, os.WriteFile(readme, []byte("before\n"+tablesBegin+"old\n"+tablesEnd+"after\n"), 0o644))
	for range 2 {
		require.NoError(t, updateReadme(nil, outcomes))
		text, err := os.ReadFile(readme)
		require.NoError(t, err)
		require.Regexp(t, `(?s)^before\n<!--.*-->\nMeasured .*\| tool \| right \| no result \|.*-->\nafter\n$`, string(text))
		require.NotContains(t, string(text), "old")
	}
}
