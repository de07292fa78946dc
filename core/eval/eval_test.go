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
	for _, s := range suites {
		require.Contains(t, out.String(), "\n"+strings.TrimSuffix(s.name, "s"), "suite %s", s.name)
	}
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

// Whoever adds a row has to make sure of this. Words that resemble local parts are in
// files without domains, and addresses only in tables of examples.
func TestDataHasNoAddressOfAPerson(t *testing.T) {
	require.NoError(t, filepath.WalkDir("data", func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".tsv" {
			return err
		}
		text, err := os.ReadFile(path)
		require.NotRegexp(t, `[A-Za-z0-9_]@[A-Za-z0-9]+\.[a-z]{2,}\t`, string(text), path)
		return err
	}))
}
