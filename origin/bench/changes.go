package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// printChanges prints how the ratios differ from an earlier report, of the figures and
// of the processor time.
func (r report) printChanges(out io.Writer, before report) {
	fmt.Fprintf(out, "\nRatios against commit %s, %s, load %s\n\n", before.Machine.Commit, before.Date.Format("2006-01-02"), before.Machine.LoadAfter)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tbefore\t(lowest to highest)\tnow\t(lowest to highest)\tchange\t")
	for _, f := range r.Rows {
		b, found := before.row(f.Name)
		if !found || f.Error != "" || b.Error != "" {
			continue
		}
		printChange(w, f.Name, b.Figure, f.Figure)
		if b.Used != nil && f.Used != nil {
			printChange(w, "  processor time", *b.Used, *f.Used)
		}
	}
	w.Flush()
}

func printChange(w io.Writer, name string, before, now spread) {
	if before.Ratio != 0 && now.Ratio != 0 {
		fmt.Fprintf(w, "%s\t%s\t%s\t%+.1f %%\t%s\n", name, ratio(before), ratio(now), 100*(now.Ratio/before.Ratio-1), noise(before, now))
	}
}

// noise says of a change within what both reports' runs vary that it shows nothing.
func noise(a, b spread) string {
	if a.Lowest <= b.Highest && b.Lowest <= a.Highest {
		return "within the noise"
	}
	return ""
}
