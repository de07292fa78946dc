package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// print prints the table.
func (r report) print(out io.Writer) {
	fmt.Fprintf(out, "%s, commit %s, %s, %d cores (%s), load %s\n\n", r.Date.Format("2006-01-02"), r.Commit, r.Go, r.Cores, r.Processor, r.Load)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tours\tagainst\tits figure\tratio\t(lowest to highest)\ttarget\t")
	for _, f := range r.Rows {
		if f.Error != "" {
			fmt.Fprintf(w, "%s\t%s\t\t\t\t\t\t\n", f.Name, f.Error)
			continue
		}
		fmt.Fprintf(w, "%s\t%s %s\t%s\t%s\t%s\t(%s to %s)\t%s\t%s\n", f.Name, number(f.Ours), f.Unit, f.Peer, number(f.Limit),
			number(f.Ratio), number(f.Lowest), number(f.Most), f.Target, mark(f))
	}
	w.Flush()
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

// printChanges prints how the ratios differ from an earlier report. A change within
// what both reports' runs vary is called noise.
func (r report) printChanges(out io.Writer, before report) {
	fmt.Fprintf(out, "\nRatios against commit %s, %s, load %s\n\n", before.Commit, before.Date.Format("2006-01-02"), before.Load)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tbefore\tnow\tchange\t")
	for _, f := range r.Rows {
		if b, found := before.row(f.Name); found && f.Error == "" && b.Error == "" {
			fmt.Fprintf(w, "%s\t%s\t%s\t%+.1f %%\t%s\n", f.Name, number(b.Ratio), number(f.Ratio), 100*(f.Ratio/b.Ratio-1), noise(b, f))
		}
	}
	w.Flush()
}

func (r report) row(name string) (figures, bool) {
	for _, f := range r.Rows {
		if f.Name == name {
			return f, true
		}
	}
	return figures{}, false
}

func noise(a, b figures) string {
	if a.Lowest <= b.Most && b.Lowest <= a.Most {
		return "within the noise"
	}
	return ""
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
