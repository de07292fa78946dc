package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// table is a tab-separated file with a header line.
type table struct {
	path   string
	header []string
	rows   [][]string
}

func readTable(path string) (t table, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return t, err
	}
	return parseTable(path, string(text))
}

func parseTable(path, text string) (t table, err error) {
	t.path = path
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		fields := strings.Split(line, "\t")
		if i == 0 {
			t.header = fields
			continue
		}
		if len(fields) != len(t.header) {
			return t, fmt.Errorf("%s:%d: %d fields, the header has %d", t.path, i+1, len(fields), len(t.header))
		}
		t.rows = append(t.rows, fields)
	}
	return t, nil
}

// errNoColumn is returned for a folder of an older make.
var errNoColumn = errors.New("there is no column")

// columns returns the rows with the named columns only, in that order.
func (t table) columns(names ...string) (rows [][]string, err error) {
	at := make([]int, len(names))
	for i, name := range names {
		if at[i] = slices.Index(t.header, name); at[i] < 0 {
			return nil, fmt.Errorf("%s: %w %s", t.path, errNoColumn, name)
		}
	}
	for _, row := range t.rows {
		picked := make([]string, len(at))
		for i, column := range at {
			picked[i] = row[column]
		}
		rows = append(rows, picked)
	}
	return rows, nil
}

// readColumns reads named columns of a file.
func readColumns(path string, names ...string) ([][]string, error) {
	t, err := readTable(path)
	if err != nil {
		return nil, err
	}
	return t.columns(names...)
}

// where returns the first columns of the rows whose last column is one of labels.
func where(rows [][]string, labels ...string) (found [][]string) {
	for _, row := range rows {
		if last := len(row) - 1; slices.Contains(labels, row[last]) {
			found = append(found, row[:last])
		}
	}
	return found
}

// first returns the first column.
func first(rows [][]string) (values []string) {
	for _, row := range rows {
		values = append(values, row[0])
	}
	return values
}
