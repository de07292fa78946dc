package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestComparisons(t *testing.T) {
	atRoot(t)
	outcomes, err := compareAll(load("core/eval/data"), func(queries []query) (tools []tool, err error) {
		results := map[string][]result{}
		for _, q := range queries {
			results[q.Question] = append(results[q.Question], result{})
		}
		for question, all := range results {
			tools = append(tools, tool{Tool: "parrot (npm)", Version: "1.2.3", Question: question, Results: all})
		}
		return tools, nil
	})
	require.NoError(t, err)
	require.Len(t, outcomes, 7)
	var out bytes.Buffer
	printMarkdown(&out, outcomes)
	for _, o := range outcomes {
		require.Len(t, o.lines, 2)
		require.Equal(t, len(o.columns)+3, strings.Count(o.lines[0], "|"))
	}
	require.Equal(t, 7, strings.Count(out.String(), "\n| addrspec "))
	require.Contains(t, out.String(), "| parrot (npm) 1.2.3 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |\n", "typo")
}

var none = result{None: "crashed"}

// cells returns the cells of a tool in a comparison with examples in place of its own.
func cells(compare func(*data) *comparison, examples []example, results, ours []result) (line string, remarks []string) {
	c := compare(&data{})
	c.examples = examples
	o := outcome{comparison: c}
	o.add(tool{Tool: "x", Version: "1.0.0", Results: results}, ours)
	return o.lines[0], o.remarks
}

func TestRowsWithoutResultAreCountedAsSuch(t *testing.T) {
	line, remarks := cells(compareFormat, []example{
		{group: "suites", yes: true}, {group: "suites", yes: true}, {group: "suites"}, {group: "suites"}, {group: "classes"},
	}, []result{{Yes: true}, none, {Yes: true}, none, {}}, nil)
	require.Equal(t, "| x 1.0.0 | 25.0 | 1 | 0 | 100 | 2 |", line)
	require.Equal(t, []string{"x has no result for 2 rows, for the first because: crashed"}, remarks)
}

func TestGibberishIsMeasuredAtTheSameFlaggedShare(t *testing.T) {
	var examples []example
	for _, group := range []string{"people", "people", "people", "people", "random", "random", "relay"} {
		examples = append(examples, example{group: group})
	}
	ours := []result{{}, {}, {}, {Yes: true}, {}, {}, {}}
	results := []result{{Score: 1}, {Score: 2}, none, {Score: 5, Yes: true}, {Score: 3}, none, {Score: 9, Yes: true}}
	line, _ := cells(compareGibberish, examples, results, ours)
	// Of 8 pairs the first random string wins 3, the one without a result ties with one.
	require.Equal(t, "| x 1.0.0 | 0.4375 | 25.0 | 0 | 50.0 | 0 | 100 | 2 |", line)
}

func TestTypoCountsRightWrongAndFlagged(t *testing.T) {
	line, _ := cells(compareTypo, []example{
		{group: "misspelled", value: "gmial.com", text: "gmail.com"}, {group: "misspelled", value: "gmali.com", text: "gmail.com"},
		{group: "real", value: "gmx.com"}, {group: "real", value: "aol.com"},
		{group: "seen", value: "gmil.com", text: "gmail.com"}, {group: "seen-real", value: "mac.lan"},
	}, []result{{Text: "gmail.com"}, {Text: "mail.com"}, {Text: "gmx.com"}, {Text: "aol.de"}, none, {Text: "mac.com"}}, nil)
	require.Equal(t, "| x 1.0.0 | 50.0 | 50.0 | 50.0 | 0 | 0 | 1 | 1 |", line)
}

func TestCanonicalComparesPairs(t *testing.T) {
	line, _ := cells(func(*data) *comparison { return compareCanonical() },
		[]example{{group: "same"}, {group: "second"}, {group: "same"}, {group: "second"}, {group: "other"}, {group: "second"}},
		[]result{{Text: "a"}, {Text: "a"}, none, none, {Text: "b"}, {Text: "b"}}, nil)
	require.Equal(t, "| x 1.0.0 | 50.0 | 1 | 2 |", line)
}

func TestShareShowsSmallAndLargeOnes(t *testing.T) {
	for want, s := range map[string]float64{"0": 0, "100": 1, "97.6": .976, "0.14": .00144, "99.95": .9995, "99.99": .99999, "1.0": .01} {
		require.Equal(t, want, share(s))
	}
}

func TestReadmeKeepsWhatIsAroundTheTables(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("core/eval", 0o755))
	outcomes := []outcome{{comparison: &comparison{title: "typo", note: "rows", columns: []column{{title: "right"}}}}}
	require.NoError(t, os.WriteFile(readme, []byte("before\n"), 0o644))
	require.ErrorContains(t, updateReadme(outcomes), "the lines around the tables are missing")
	require.NoError(t, os.WriteFile(readme, []byte("before\n"+tablesBegin+"old\n"+tablesEnd+"after\n"), 0o644))
	for range 2 {
		require.NoError(t, updateReadme(outcomes))
		text, err := os.ReadFile(readme)
		require.NoError(t, err)
		require.Regexp(t, `(?s)^before\n<!--.*-->\nMeasured .*\| tool \| right \| no result \|.*-->\nafter\n$`, string(text))
		require.NotContains(t, string(text), "old")
	}
}
