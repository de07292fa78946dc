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
	To string `enum:"table,csv" default:"table" help:"Form of the output: table or csv (RFC 4180)."`
}

// print writes rows under their header.
func (a *asTable) print(out io.Writer, header []string, rows [][]string) error {
	if a.To == "csv" {
		w := csv.NewWriter(out)
		return w.WriteAll(append([][]string{header}, rows...))
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.Join(header, "\t")))
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}
