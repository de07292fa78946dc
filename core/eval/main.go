// Command eval measures the quality of every check of core on labelled data and
// prints one table: the check, its data, the figure, the committed floor and the
// target. It exits with 1 if a figure is worse than its floor.
//
//	go run ./core/eval [-v] [-data DIR]
//	go run ./core/eval -peers [-to readme] [-data DIR]
//
// With -peers it has other tools asked about the same rows, and prints ours and theirs side
// by side. The program in peers asks them; compare.go says what is compared.
//
// The data is in core/eval/data, and its README says how it was made; -data or
// ADDRSPEC_EVAL names another directory with the same files. -v lists every wrong row.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// row is one line of the table.
type row struct {
	check  string  // the check and the measure
	data   string  // the source and number of the rows
	figure float64 // as measured
	floor  float64 // committed: the worst figure that is accepted
	target float64 // required on unseen data
	lower  bool    // lower is better
	wrong  []string
}

// suites are in the order of the table.
var suites = []func(*data) []row{
	evalFormat, evalRepairs, evalLists, evalReal, evalRoles, evalTypo, evalGibberish, evalCanonical,
}

func main() {
	usual := "core/eval/data"
	if dir := os.Getenv("ADDRSPEC_EVAL"); dir != "" {
		usual = dir
	}
	dir := flag.String("data", usual, "directory of the evaluation data")
	verbose := flag.Bool("v", false, "list every wrong row")
	withPeers := flag.Bool("peers", false, "install other tools and compare them with ours on the same rows")
	to := flag.String("to", "markdown", "with -peers: markdown, or readme, for the tables in core/eval/README.md")
	flag.Parse()
	if *to != "markdown" && *to != "readme" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "eval: -to is markdown or readme; there are no arguments besides flags")
		os.Exit(2)
	}
	if _, err := os.Stat(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "eval: no evaluation data: run it in the root of the project, or set ADDRSPEC_EVAL:", err)
		os.Exit(2)
	}
	if !*withPeers {
		os.Exit(report(os.Stdout, *dir, *verbose))
	}
	outcomes, err := compareAll(load(*dir), askPeers)
	if err == nil {
		if *to == "readme" {
			err = updateReadme(outcomes)
		} else {
			printMarkdown(os.Stdout, outcomes)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

func report(w io.Writer, dir string, verbose bool) (code int) {
	d := load(dir)
	if len(d.errs) > 0 {
		fmt.Fprintln(os.Stderr, "eval: not measured:", d.errs)
	}
	if d.broken() {
		return 1
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "check\tdata\tfigure\tfloor\ttarget\t")
	var wrong []string
	for _, eval := range suites {
		for _, r := range eval(d) {
			if strings.HasPrefix(r.data, "0 ") {
				continue // a table that this data lacks
			}
			verdict := r.verdict()
			fmt.Fprintf(table, "%s\t%s\t%.4g\t%.4g\t%.4g\t%s\n", r.check, r.data, r.figure, r.floor, r.target, verdict)
			wrong = append(wrong, r.wrong...)
			if verdict == "FELL" {
				code = 1
			}
		}
	}
	table.Flush()
	if verbose {
		for _, line := range wrong {
			fmt.Fprintln(w, line)
		}
	}
	return code
}

func (r row) verdict() string {
	worse := func(than float64) bool { return r.lower && r.figure > than || !r.lower && r.figure < than }
	switch {
	case worse(r.floor):
		return "FELL"
	case worse(r.target):
		return "below target"
	}
	return ""
}

// atLeast and atMost return a row without its figure.
func atLeast(check string, floor, target float64) row {
	return row{check: check, floor: floor, target: target}
}

func atMost(check string, floor, target float64) row {
	return row{check: check, floor: floor, target: target, lower: true}
}

// judged is what a check returned for one row of data beside what it should.
type judged struct {
	given, want, got string
	right            bool
}

func equal(given, want, got string) judged { return judged{given, want, got, want == got} }

// of measures r on rows of data: it counts those that are right or, if lower is better, those
// that are wrong, as a share if the check's name ends with %.
func (r row) of(name string, rows []judged) row {
	for _, j := range rows {
		if j.right != r.lower {
			r.figure++
		}
		if !j.right {
			r.wrong = append(r.wrong, r.check+"\t"+j.given+"\twant "+j.want+"\tgot "+j.got)
		}
	}
	if strings.HasSuffix(r.check, "%") {
		r.figure = 100 * r.figure / float64(len(rows))
	}
	r.data = fmt.Sprint(len(rows), " ", name)
	return r
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

func first(rows [][]string) (values []string) {
	for _, row := range rows {
		values = append(values, row[0])
	}
	return values
}
