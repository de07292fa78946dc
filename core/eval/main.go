// Command eval measures the quality of every check of core on labelled data and
// prints one table: the check, its data, the figure, the committed floor, the
// target and the best peer's figure. It exits with 1 if a figure is worse than
// its floor.
//
//	go run ./core/eval [-v] [-data DIR]
//
// The data is in core/eval/data, whose README says how it was made; -data or
// ADDRSPEC_EVAL names another folder of the same make. -v lists every wrong row.
//
// Each check has a file of its name, which suites in this file lists.
package main

import (
	"flag"
	"fmt"
	"os"
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
	peer   string  // the best peer's figure on similar data, and its name
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
	{"lists", runLists},
	{"role", runRole},
	{"typo", runTypo},
	{"gibberish", runGibberish},
}

func main() {
	dir := flag.String("data", dataDir(), "directory of the evaluation data")
	verbose := flag.Bool("v", false, "list every wrong row")
	flag.Parse()
	if _, err := os.Stat(*dir); err != nil {
		fmt.Fprintf(os.Stderr, "eval: no evaluation data: %v: run it in the root of the project, or set ADDRSPEC_EVAL\n", err)
		os.Exit(2)
	}
	os.Exit(report(*dir, *verbose))
}

func dataDir() string {
	if dir := os.Getenv("ADDRSPEC_EVAL"); dir != "" {
		return dir
	}
	return "core/eval/data"
}

// report runs every suite, prints the table and returns the exit code.
func report(dir string, verbose bool) (code int) {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "check\tdata\tfigure\tfloor\ttarget\tbest peer\t")
	var wrong []string
	for _, s := range suites {
		rows, err := s.run(dir)
		if err != nil {
			fmt.Fprintf(os.Stderr, "eval: %s: %v\n", s.name, err)
			code = 1
		}
		for _, r := range rows {
			fmt.Fprintf(table, "%s\t%s\t%.4g\t%.4g\t%.4g\t%s\t%s\n", r.check, r.data, r.figure, r.floor, r.target, r.peer, r.verdict())
			wrong = append(wrong, r.wrong...)
			if r.fell() {
				code = 1
			}
		}
	}
	table.Flush()
	if verbose {
		for _, w := range wrong {
			fmt.Println(w)
		}
	}
	return code
}

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
