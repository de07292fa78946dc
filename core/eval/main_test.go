package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
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

func TestRowFallsBelowItsFloorOnly(t *testing.T) {
	require.False(t, row{figure: 97, floor: 97}.fell())
	require.True(t, row{figure: 96.9, floor: 97}.fell())
	require.False(t, row{figure: 2, floor: 2, lower: true}.fell())
	require.True(t, row{figure: 2.1, floor: 2, lower: true}.fell())
	require.Equal(t, "FELL", row{figure: 1, floor: 2, target: 3}.verdict())
	require.Equal(t, "below target", row{figure: 2, floor: 2, target: 3}.verdict())
	require.Empty(t, row{figure: 3, floor: 2, target: 3}.verdict())
}

func TestTableReportsItsDefects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.tsv")
	write := func(text string) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("domain\tlabel\na\tx\nb\ty\n")
	rows, err := readColumns(path, "label", "domain")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"x", "a"}, {"y", "b"}}, rows)
	require.Equal(t, []string{"y"}, first(where(rows, "b")))
	_, err = readColumns(path, "kind")
	require.EqualError(t, err, path+": there is no column kind")
	write("domain\tlabel\na\n")
	_, err = readColumns(path, "domain")
	require.EqualError(t, err, path+":2: 1 fields, the header has 2")
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
		parsed, err := parseTable("t.tsv", text)
		if err != nil {
			return
		}
		for _, row := range parsed.rows {
			require.Len(t, row, len(parsed.header))
		}
		rows, err := parsed.columns(parsed.header[0])
		require.NoError(t, err)
		require.Len(t, rows, len(parsed.rows))
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
