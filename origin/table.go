package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/addrspec/addrspec/origin/escape"
)

// tableFlag is the output format of commands that list rows.
type tableFlag struct {
	To string `enum:"table,csv,ndjson" default:"table" help:"Output format: table, csv (RFC 4180) or ndjson (one JSON object a line). In csv a single quote precedes a cell that a spreadsheet would evaluate as a formula."`
}

// print writes rows under their header. A string in a row is text that a user
// chose, such as an email or a name, and is escaped; other values are not. totals
// is a last row that only a table has: in the other formats it would be counted
// with the rest.
func (a *tableFlag) print(out io.Writer, header []string, rows [][]any, totals ...any) error {
	switch a.To {
	case "csv":
		return printCSV(out, header, rows)
	case "ndjson":
		return printNDJSON(out, header, rows)
	}
	if totals != nil {
		rows = append(rows, totals)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.Join(header, "\t")))
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(cells(row, escape.Printable), "\t"))
	}
	return w.Flush()
}

func printCSV(out io.Writer, header []string, rows [][]any) error {
	w := csv.NewWriter(out)
	if err := w.Write(header); err != nil {
		return err
	}
	for _, row := range rows {
		if err := w.Write(cells(row, escapeFormula)); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// escapeFormula makes text harmless in a spreadsheet and on a terminal.
func escapeFormula(text string) string { return escape.Printable(escape.Formula(text)) }

// cells returns a row's values as text, with the strings escaped.
func cells(row []any, escape func(string) string) []string {
	list := make([]string, len(row))
	for i, value := range row {
		if text, ok := value.(string); ok {
			list[i] = escape(text)
		} else {
			list[i] = fmt.Sprint(value)
		}
	}
	return list
}
