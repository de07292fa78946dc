package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// printer writes the outcome of comparisons.
type printer func(w io.Writer, outcomes []compared) error

var printers = map[string]printer{"text": printText, "markdown": printMarkdown, "readme": updateReadme}

// The tables in the README are between these lines.
const (
	readme      = "README.md"
	tablesBegin = "<!-- Written by ./build.sh eval --peers --to readme -->\n"
	tablesEnd   = "<!-- The end of what is written by it -->\n"
)

// updateReadme replaces the tables in the README.
func updateReadme(_ io.Writer, outcomes []compared) error {
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(text), tablesBegin)
	_, after, ends := strings.Cut(rest, tablesEnd)
	if !begins || !ends {
		return fmt.Errorf("%s: the lines around the tables are missing: %q and %q", readme, tablesBegin, tablesEnd)
	}
	tables := bytes.NewBufferString(before + tablesBegin)
	if err := printMarkdown(tables, outcomes); err != nil {
		return err
	}
	return os.WriteFile(readme, append(tables.Bytes(), tablesEnd+after...), 0o644)
}

// measuredAt says when the table was made and by which build of ours.
func measuredAt() string {
	versions := core.New(lists.Default()).AppendVersions(nil)
	return fmt.Sprintf("Measured %s by ./build.sh eval --peers with %s", time.Now().UTC().Format(time.DateOnly),
		strings.NewReplacer(`{"`, "", `"}`, "", `":"`, " ", `","`, ", ").Replace(string(versions)))
}

func printText(w io.Writer, outcomes []compared) error {
	fmt.Fprintln(w, measuredAt())
	for _, o := range outcomes {
		fmt.Fprintf(w, "\n%s: %s\n", o.title, o.note)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for i, column := range o.columns {
			fmt.Fprintf(w, "  %c  %s\n", 'A'+i, column.title)
		}
		fmt.Fprint(table, "\t")
		for i := range o.columns {
			fmt.Fprintf(table, "\t%c", 'A'+i)
		}
		fmt.Fprintln(table, "\tno answer")
		for _, l := range o.lines {
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\n", l.tool, l.version, strings.Join(l.cells, "\t"), l.unanswered)
		}
		if err := table.Flush(); err != nil {
			return err
		}
		for _, remark := range o.remarks() {
			fmt.Fprintln(w, remark)
		}
	}
	return nil
}

func printMarkdown(w io.Writer, outcomes []compared) error {
	fmt.Fprintln(w, measuredAt()+".")
	for _, o := range outcomes {
		fmt.Fprintf(w, "\n**%s**: %s.\n\n| tool | %s | no answer |\n|---|%s---|\n", o.title, o.note,
			strings.Join(o.titles(), " | "), strings.Repeat("---|", len(o.columns)))
		for _, l := range o.lines {
			fmt.Fprintf(w, "| %s %s | %s | %d |\n", l.tool, l.version, strings.Join(l.cells, " | "), l.unanswered)
		}
		if remarks := o.remarks(); remarks != nil {
			fmt.Fprintf(w, "\n%s.\n", strings.Join(remarks, "; "))
		}
	}
	return nil
}

// remarks says why rows have no answer, and which tools were left out.
func (o *compared) remarks() (remarks []string) {
	for _, l := range o.lines {
		if l.unanswered > 0 {
			remarks = append(remarks, fmt.Sprintf("%s did not answer %d rows, the first because: %s", l.tool, l.unanswered, l.why))
		}
	}
	for _, tool := range o.leftOut {
		remarks = append(remarks, "left out: "+tool)
	}
	return remarks
}

func (c *comparison) titles() (titles []string) {
	for _, column := range c.columns {
		titles = append(titles, column.title)
	}
	return titles
}
