package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// atRoot changes to the root of the project, from which the command runs.
func atRoot(t *testing.T) { t.Chdir("../..") }

func TestNoFigureIsBelowItsFloor(t *testing.T) {
	atRoot(t)
	var out bytes.Buffer
	require.Zero(t, report(&out, "core/eval/data", false), out.String())
}

func TestReportFailsWithoutData(t *testing.T) {
	atRoot(t)
	require.Equal(t, 1, report(io.Discard, t.TempDir(), false))
}

func TestVerdict(t *testing.T) {
	for want, rows := range map[string][]row{
		"":             {{figure: 97, floor: 97}, {figure: 2, floor: 2, target: 2, lower: true}, {figure: 3, floor: 2, target: 3}},
		"below target": {{figure: 2, floor: 2, target: 3}, {figure: 2, floor: 2, target: 1, lower: true}},
		"FELL":         {{figure: 96.9, floor: 97}, {figure: 2.1, floor: 2, lower: true}, {figure: 1, floor: 2, target: 3}},
	} {
		for _, r := range rows {
			require.Equal(t, want, r.verdict())
		}
	}
}

func TestRowCountsTheRightOrTheWrong(t *testing.T) {
	rows := []judged{equal("a", "x", "x"), equal("b", "x", "y"), equal("c", "", ""), equal("d", "", "")}
	r := row{check: "right, %"}.of("letters", rows)
	require.Equal(t, row{check: "right, %", data: "4 letters", figure: 75, wrong: []string{"right, %\tb\twant x\tgot y"}}, r)
	require.Equal(t, 1.0, row{check: "wrong", lower: true}.of("letters", rows).figure)
	require.Equal(t, 25.0, row{check: "wrong, %", lower: true}.of("letters", rows).figure)
}

func TestTableReportsItsDefects(t *testing.T) {
	rows, err := parseTable("t.tsv", "domain\tlabel\na\tx\nb\ty\n", "label", "domain")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"x", "a"}, {"y", "b"}}, rows)
	require.Equal(t, []string{"y"}, first(where(rows, "b")))
	_, err = parseTable("t.tsv", "domain\tlabel\na\tx\n", "kind")
	require.EqualError(t, err, "t.tsv: there is no column kind")
	_, err = parseTable("t.tsv", "domain\tlabel\na\n", "domain")
	require.EqualError(t, err, "t.tsv:2: 1 fields, the header has 2")
}

// Older data lacks tables of real addresses. What they measure is left out.
func TestOlderDataIsMeasured(t *testing.T) {
	atRoot(t)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("core/eval/data")))
	require.NoError(t, os.Remove(filepath.Join(dir, "real/list_errors.tsv")))
	d := load(dir)
	require.ErrorIs(t, d.errs[0], errOlder)
	require.False(t, d.broken())
	require.Empty(t, d.listErrors)
	require.NotEmpty(t, d.publicMissed)
}

// Local parts are in files without domains: no row may join them to an address.
func TestNoTableBeginsARowWithAnAddress(t *testing.T) {
	for _, dir := range []string{"gibberish", "typo", "real"} {
		files, err := filepath.Glob("data/" + dir + "/*.tsv")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NotRegexp(t, `(?m)^[^\s@<]+@[a-z0-9]+\.[a-z]`, string(text), file)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add("domain\tlabel\na\tx\n")
	f.Add("a\n\n\tb")
	f.Fuzz(func(t *testing.T, text string) {
		name, _, _ := strings.Cut(text, "\n")
		name, _, _ = strings.Cut(name, "\t")
		rows, err := parseTable("t.tsv", text, name)
		require.True(t, err != nil || len(rows) == strings.Count(strings.TrimRight(text, "\n"), "\n"))
	})
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte(`{"email": "a@b", "valid": true, "normalized": null}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := parseFormat("dev.jsonl", text); err != nil {
			require.ErrorContains(t, err, "dev.jsonl: ")
		}
	})
}
