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
	compared := map[peers.Question]bool{}
	for _, read := range comparisons {
		c, err := read("core/eval/data")
		require.NoError(t, err)
		answers := c.ask(context.Background(), ours(c))
		require.Len(t, c.measure(c, answers, answers), len(c.columns), c.title)
		compared[c.question] = true
	}
	for _, p := range peers.All() {
		for _, q := range p.Questions {
			require.True(t, compared[q], q)
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
	return entrant{name: "addrspec", ask: func(_ peers.Question, value string) peers.Answer { return c.own(value) }}
}

var none = peers.Answer{None: "crashed"}

func TestRowsWithoutAnswerAreCountedAsSuch(t *testing.T) {
	c := &comparison{columns: []string{"a", "b"}, measure: measureFormat, examples: []example{
		{value: "1", group: "suites", yes: true}, {value: "2", group: "suites", yes: true},
		{value: "3", group: "suites"}, {value: "4", group: "suites"}, {value: "5", group: "classes"},
	}}
	o := compared{comparison: c}
	o.add("x", "1.0.0", []peers.Answer{{Yes: true}, none, {Yes: true}, none, {}}, nil)
	require.Equal(t, []string{"25.0", "1", "0", "100"}, o.lines[0].cells)
	require.Equal(t, []string{"x did not answer 2 rows, the first because: crashed"}, o.remarks())
}

func TestGibberishIsMeasuredAtTheSameFlaggedShare(t *testing.T) {
	c := &comparison{}
	for _, group := range []string{"people", "people", "people", "people", "random", "random", "relay"} {
		c.examples = append(c.examples, example{group: group})
	}
	ours := []peers.Answer{{}, {}, {}, {Yes: true}, {}, {}, {}}
	answers := []peers.Answer{{Score: 1}, {Score: 2}, none, {Score: 5, Yes: true}, {Score: 3}, none, {Score: 9, Yes: true}}
	// Of 8 pairs the first random string wins 3, the unanswered one ties with one.
	require.Equal(t, []string{"0.4375", "25.0", "0", "50.0", "0", "100"}, measureGibberish(c, answers, ours))
}

func TestTypoCountsRightWrongAndFlagged(t *testing.T) {
	c := &comparison{}
	add := func(group, value, text string) {
		c.examples = append(c.examples, example{value: value, group: group, text: text})
	}
	add("misspelled", "gmial.com", "gmail.com")
	add("misspelled", "gmali.com", "gmail.com")
	add("real", "gmx.com", "provider")
	add("real", "aol.com", "provider")
	add("seen", "gmil.com", "gmail.com")
	add("seen-real", "mac.lan", "host")
	answers := []peers.Answer{{Text: "gmail.com"}, {Text: "mail.com"}, {Text: "gmx.com"}, {Text: "aol.de"}, none, {Text: "mac.com"}}
	require.Equal(t, []string{"50.0", "50.0", "50.0", "0", "0", "1"}, measureTypo(c, answers, nil))
}

func TestCanonicalComparesPairs(t *testing.T) {
	c := &comparison{examples: []example{{group: "same"}, {group: "second"}, {group: "same"}, {group: "second"}, {group: "other"}, {group: "second"}}}
	answers := []peers.Answer{{Text: "a"}, {Text: "a"}, none, none, {Text: "b"}, {Text: "b"}}
	require.Equal(t, []string{"50.0", "1"}, measureCanonical(c, answers, nil))
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
	outcomes := []compared{{comparison: &comparison{title: "typo", note: "rows", columns: []string{"right"}}}}
	require.NoError(t, os.WriteFile(readme, []byte("before\n"), 0o644))
	require.ErrorContains(t, updateReadme(nil, outcomes), "the lines around the tables are missing")
	require.NoError(t, os.WriteFile(readme, []byte("before\n"+tablesBegin+"old\n"+tablesEnd+"after\n"), 0o644))
	for range 2 {
		require.NoError(t, updateReadme(nil, outcomes))
		text, err := os.ReadFile(readme)
		require.NoError(t, err)
		require.Regexp(t, `(?s)^before\n<!--.*-->\nMeasured .*\| tool \| right \| no answer \|.*-->\nafter\n$`, string(text))
		require.NotContains(t, string(text), "old")
	}
}
