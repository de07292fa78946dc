package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// print prints the table, and below it what is measured beside its figures.
func (r report) print(out io.Writer) {
	m := r.Machine
	fmt.Fprintf(out, "%s, commit %s, %s, %d cores (%s), databases on %s, load %s before, %s after\n\n",
		r.Date.Format("2006-01-02"), m.Commit, m.Versions["go"], m.Cores, m.Processor, m.FileSystem, m.LoadBefore, m.LoadAfter)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tours\tagainst\tits figure\tratio\t(lowest to highest)\ttarget\t")
	for _, f := range r.Rows {
		if f.Error != "" {
			fmt.Fprintf(w, "%s\t%s\t\t\t\t\t\t\n", f.Name, f.Error)
			continue
		}
		fmt.Fprintf(w, "%s\t%s %s\t%s\t%s\t%s\t%s\t%s\n", f.Name, number(f.Figure.Ours), f.Unit, f.Peer, number(f.Figure.Peer),
			ratio(f.Figure), f.Target, mark(f))
	}
	w.Flush()
	r.printUsed(out)
}

// ratio returns the columns of the ratio and of its bounds.
func ratio(s spread) string {
	if s.Ratio == 0 {
		return "\t"
	}
	return fmt.Sprintf("%s\t(%s to %s)", number(s.Ratio), number(s.Lowest), number(s.Highest))
}

func mark(f figures) string {
	switch {
	case f.Target == "":
		return ""
	case f.Met:
		return "met"
	}
	return "missed"
}

// printUsed prints the processor time, which other work on the machine changes less
// than the figures, and the times until an answer.
func (r report) printUsed(out io.Writer) {
	fmt.Fprint(out, "\nProcessor time of a request, address, look-up or start in µs, and times until an answer in ms\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tours\tpeer\tratio\t(lowest to highest)\tmedian\t99 %\t")
	for _, f := range r.Rows {
		if f.Used == nil {
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t\n", f.Name, number(f.Used.Ours), optional(f.Used.Peer), ratio(*f.Used), optional(f.P50), optional(f.P99))
	}
	w.Flush()
}

// optional leaves out what was not measured.
func optional(x float64) string {
	if x == 0 {
		return ""
	}
	return number(x)
}

// number returns x with three significant digits, and thousands as whole numbers with
// separators.
func number(x float64) string {
	if math.Abs(x) < 999.5 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	digits := strconv.FormatInt(int64(math.Round(x)), 10)
	for n := len(digits) - 3; n > 0; n -= 3 {
		digits = digits[:n] + "," + digits[n:]
	}
	return digits
}
