package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// asTable is the flag of commands that list things.
type asTable struct {
	To string `enum:"table,csv" default:"table" help:"Form of the output: table or csv (RFC 4180), in which a cell that a spreadsheet would take for a formula begins with a single quote."`
}

// print writes rows under their header. A string in a row is what somebody
// chose, an email or a name; a value of any other type is the program's own.
func (a *asTable) print(out io.Writer, header []string, rows [][]any) error {
	if a.To == "csv" {
		return printCSV(out, header, rows)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.Join(header, "\t")))
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(cells(row, printable), "\t"))
	}
	return w.Flush()
}

func printCSV(out io.Writer, header []string, rows [][]any) error {
	w := csv.NewWriter(out)
	if err := w.Write(header); err != nil {
		return err
	}
	for _, row := range rows {
		if err := w.Write(cells(row, spreadsheetSafe)); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// cells are a row's values as text, what somebody chose made harmless.
func cells(row []any, harmless func(string) string) []string {
	list := make([]string, len(row))
	for i, value := range row {
		if text, chosen := value.(string); chosen {
			list[i] = harmless(text)
		} else {
			list[i] = fmt.Sprint(value)
		}
	}
	return list
}
