// Command eval measures the quality of every check of core on labelled data and
// prints one table: the check, its data, the figure, the committed floor and the
// target. It exits with 1 if a figure is worse than its floor.
//
//	go run ./core/eval [-v] [-data DIR]
//	go run ./core/eval -people DIR,DIR
//	go run ./core/eval -peers [-to markdown|readme] [-data DIR]
//
// With -people it also measures gibberish on real addresses, those in the histories
// of git directories that you name. With -peers it installs other tools, asks them about
// the same rows and prints ours and theirs side by side; package peers says how.
//
// The data is in core/eval/data, and its README says how it was made; -data or
// ADDRSPEC_EVAL names another directory with the same files. -v lists every wrong row.
//
// suites, in this file, lists the checks; format.go has canonical too, and lists.go the
// domains of real addresses.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/addrspec/addrspec/core/eval/peers"
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

// suite measures one check on the data under dir.
type suite struct {
	name string
	run  func(dir string) ([]row, error)
}

// suites are listed in the order of the table.
var suites = []suite{
	{"format", runFormat},
	{"repair", runRepairs},
	{"lists", runLists},
	{"real", runReal},
	{"role", runRole},
	{"typo", runTypo},
	{"gibberish", runGibberish},
	{"canonical", runCanonical},
}

func main() {
	dir := flag.String("data", dataDir(), "directory of the evaluation data")
	verbose := flag.Bool("v", false, "list every wrong row")
	histories := flag.String("people", "", "also measure gibberish on the authors in these git directories (DIR,DIR)")
	withPeers := flag.Bool("peers", false, "install other tools and compare them with ours on the same rows")
	format := flag.String("to", "text", "with -peers: text, markdown, or readme, which replaces the tables in core/eval/README.md")
	flag.Parse()
	print := printers[*format]
	if print == nil || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "eval: -to is text, markdown or readme; there are no arguments besides flags")
		os.Exit(2)
	}
	if _, err := os.Stat(*dir); err != nil {
		fmt.Fprintf(os.Stderr, "eval: no evaluation data: %v: run it in the root of the project, or set ADDRSPEC_EVAL\n", err)
		os.Exit(2)
	}
	if *withPeers {
		os.Exit(compareWithPeers(*dir, print))
	}
	if *histories != "" {
		suites = append(suites, suite{"people", runPeople(*histories)})
	}
	os.Exit(report(os.Stdout, *dir, *verbose))
}

// compareWithPeers prints the comparisons and returns the exit code, which is 1 if
// ours could not be measured. A peer that is left out is not an error.
func compareWithPeers(dir string, print printer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	installer := &peers.Installer{Root: "core/eval/peers", Build: "dist/eval"}
	outcomes, err := compareAll(ctx, dir, peers.All(), installer)
	if err == nil {
		err = print(os.Stdout, outcomes)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		return 1
	}
	return 0
}

func dataDir() string {
	if dir := os.Getenv("ADDRSPEC_EVAL"); dir != "" {
		return dir
	}
	return "core/eval/data"
}

// report runs every suite, prints the table and returns the exit code.
func report(w io.Writer, dir string, verbose bool) (code int) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "check\tdata\tfigure\tfloor\ttarget\t")
	var wrong []string
	for _, s := range suites {
		rows, err := s.run(dir)
		if err != nil {
			fmt.Fprintf(os.Stderr, "eval: %s: %v\n", s.name, err)
			code = 1
		}
		for _, r := range rows {
			fmt.Fprintf(table, "%s\t%s\t%.4g\t%.4g\t%.4g\t%s\n", r.check, r.data, r.figure, r.floor, r.target, r.verdict())
			wrong = append(wrong, r.wrong...)
			if r.fell() {
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

// rowsOf describes data by its number of rows.
func rowsOf(name string, n int) string { return fmt.Sprintf("%d %s", n, name) }

// fell reports whether the figure is worse than its floor.
func (r row) fell() bool { return r.lower && r.figure > r.floor || !r.lower && r.figure < r.floor }

func (r row) verdict() string {
	if r.fell() {
		return "FELL"
	}
	if r.lower && r.figure > r.target || !r.lower && r.figure < r.target {
		return "below target"
	}
	return ""
}

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

// errNoColumn is returned for data of an older version.
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
