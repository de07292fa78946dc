package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// A report is what one run of the program measured, and where. It is what -json writes.
type report struct {
	Date       time.Time `json:"date"`
	Commit     string    `json:"commit"` // of the source, with "+" if files differ from it
	Go         string    `json:"go"`
	Cores      int       `json:"cores"`
	FileSystem string    `json:"file_system"` // of the databases, as df -T names it
	LoadBefore string    `json:"load_before"` // averages of 1, 5 and 15 minutes
	LoadAfter  string    `json:"load_after"`
	Rows       []*result `json:"rows"`
}

// A result is what the runs of a row gave.
type result struct {
	row
	Name  string `json:"name"`
	Runs  []pair `json:"runs"`
	Error string `json:"error,omitempty"` // why the row has no figures
}

// newReport describes the machine before the first measurement.
func newReport(dir string) report {
	output := func(name string, args ...string) string {
		out, _ := exec.Command(name, args...).Output()
		return strings.TrimSpace(string(out))
	}
	r := report{Date: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), Cores: runtime.NumCPU(),
		LoadBefore: loadAverage(), Commit: output("git", "rev-parse", "--short", "HEAD")}
	if output("git", "status", "--porcelain", "-uno") != "" {
		r.Commit += "+"
	}
	words := strings.Fields(output("df", "-T", dir)) // the first line has eight words
	if len(words) > 9 {
		r.FileSystem = words[9]
	}
	return r
}

func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	words := strings.Fields(string(text))
	return strings.Join(words[:min(3, len(words))], " ")
}

// run measures the row once.
func (r *result) run(l *lab) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case failure:
			r.Error = end.err.Error()
		default:
			panic(end)
		}
	}()
	r.Runs = append(r.Runs, r.measure(l))
}

// A spread sums up pairs of figures over the runs.
type spread struct{ ours, peer, ratio, lowest, highest float64 } // the first three are medians

// spread has no ratio if a peer has no figure.
func (r *result) spread(figure func(pair) (ours, peer float64)) (s spread) {
	var ours, peers, ratios []float64
	for _, p := range r.Runs {
		our, peer := figure(p)
		ours, peers = append(ours, our), append(peers, peer)
		if peer != 0 {
			ratios = append(ratios, our/peer)
		}
	}
	s.ours, s.peer = median(ours), median(peers)
	if len(ratios) > 0 && len(ratios) == len(r.Runs) {
		s.ratio, s.lowest, s.highest = median(ratios), slices.Min(ratios), slices.Max(ratios)
	}
	return s
}

// median returns the middle of list, 0 for none.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

// print prints the table, and below it the processor time, which other work on the machine
// changes less than the figures, and the times until a response.
func (r report) print(out io.Writer) {
	fmt.Fprintf(out, "%s, commit %s, %s, %d cores, databases on %s, load %s before, %s after\n\n",
		r.Date.Format("2006-01-02"), r.Commit, r.Go, r.Cores, r.FileSystem, r.LoadBefore, r.LoadAfter)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tours\tagainst\tits figure\tratio\t(lowest to highest)\ttarget\t")
	for _, row := range r.Rows {
		if row.Error != "" {
			fmt.Fprintf(w, "%s\t%s\t\t\t\t\t\t\n", row.name, row.Error)
			continue
		}
		s := row.spread(func(p pair) (float64, float64) { return p.Ours, p.Peer })
		fmt.Fprintf(w, "%s\t%s %s\t%s\t%s\t%s\t%s\n", row.name, number(s.ours), row.unit, row.peer, number(s.peer), s,
			row.target.judge(s.ratio))
	}
	w.Flush()
	fmt.Fprint(out, "\nProcessor time of a request, address, lookup or start in µs, times until a response in ms\n\n")
	fmt.Fprintln(w, "what\tours\tpeer\tratio\t(lowest to highest)\tmedian\t99 %\t")
	for _, row := range r.Rows {
		used := row.spread(func(p pair) (float64, float64) { return p.Used, p.PeerUsed })
		times := row.spread(func(p pair) (float64, float64) { return p.P50, p.P99 })
		if row.Error == "" && used.ours > 0 {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t\n", row.name, number(used.ours), number(used.peer), used,
				number(times.ours), number(times.peer))
		}
	}
	w.Flush()
}

// String returns the columns of the ratio and of its bounds.
func (s spread) String() string {
	if s.ratio == 0 {
		return "\t"
	}
	return fmt.Sprintf("%s\t(%s to %s)", number(s.ratio), number(s.lowest), number(s.highest))
}

// number returns x with three significant digits, and thousands as whole numbers with
// separators. What was not measured is left out.
func number(x float64) string {
	if x == 0 {
		return ""
	}
	if math.Abs(x) < 999.5 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	digits := strconv.FormatInt(int64(math.Round(x)), 10)
	for n := len(digits) - 3; n > 0; n -= 3 {
		digits = digits[:n] + "," + digits[n:]
	}
	return digits
}
