package main

import (
	"encoding/json"
	"errors"
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

// A report is what one run of the program measured. It is what -json writes.
type report struct {
	Date    time.Time `json:"date"`
	Machine machine   `json:"machine"`
	Rows    []figures `json:"rows"`
	Plots   []plot    `json:"plots,omitempty"`
}

func newReport(results []result, m machine) report {
	r := report{Date: time.Now().UTC().Truncate(time.Second), Machine: m}
	for n := range results {
		r.Rows = append(r.Rows, results[n].figures())
	}
	return r
}

func (r report) row(name string) (figures, bool) {
	for _, f := range r.Rows {
		if f.Name == name {
			return f, true
		}
	}
	return figures{}, false
}

func (r report) write(path string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// readBefore reads an earlier report; no path is none.
func readBefore(path string) (*report, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("-against: %w", err)
	}
	before := new(report)
	if err := json.Unmarshal(data, before); err != nil {
		return nil, fmt.Errorf("-against: %s is not what -json writes: %w", path, err)
	}
	if len(before.Rows) == 0 || before.Machine.Commit == "" {
		return nil, fmt.Errorf("-against: %s has no rows or no commit; it is not what -json writes now", path)
	}
	return before, nil
}

// A result is what the runs of a row gave.
type result struct {
	row
	pairs []pair
	err   error // why the row has no figures
}

func (r *result) add(p pair, err error) {
	if errors.Is(err, errMeasured) {
		return
	}
	if r.err = err; err == nil {
		r.pairs = append(r.pairs, p)
	}
}

// figures are the measurements of one row, as -json writes them.
type figures struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Peer   string  `json:"peer"`
	Target string  `json:"target,omitempty"`
	Met    bool    `json:"met"`
	Figure spread  `json:"figure"`
	Used   *spread `json:"processor_time,omitempty"` // microseconds
	P50    float64 `json:"p50,omitempty"`            // milliseconds until a response of ours
	P99    float64 `json:"p99,omitempty"`
	Pairs  []pair  `json:"runs"`
	Error  string  `json:"error,omitempty"`
}

// A spread sums up pairs of figures over the runs.
type spread struct {
	Ours    float64 `json:"ours"` // median, as are the two below
	Peer    float64 `json:"peer"`
	Ratio   float64 `json:"ratio"`
	Lowest  float64 `json:"ratio_lowest"`
	Highest float64 `json:"ratio_highest"`
}

func (r *result) figures() figures {
	f := figures{Name: r.name, Unit: r.unit, Peer: r.peer, Target: r.target.String(), Pairs: r.pairs}
	if r.err != nil {
		f.Error = r.err.Error()
		return f
	}
	f.Figure = spreadOf(each(r.pairs, pair.figure))
	f.Met = r.target.met(f.Figure.Ratio)
	if used := spreadOf(each(r.pairs, pair.used)); used.Ours > 0 {
		f.Used = &used
	}
	f.P50 = median(each(r.pairs, func(p pair) float64 { return p.P50 }))
	f.P99 = median(each(r.pairs, func(p pair) float64 { return p.P99 }))
	return f
}

func (p pair) figure() [2]float64 { return [2]float64{p.Ours, p.Peer} }
func (p pair) used() [2]float64   { return [2]float64{p.Used, p.PeerUsed} }

// spreadOf has no ratio if a peer has no figure.
func spreadOf(pairs [][2]float64) (s spread) {
	s.Ours = median(each(pairs, func(p [2]float64) float64 { return p[0] }))
	s.Peer = median(each(pairs, func(p [2]float64) float64 { return p[1] }))
	if slices.ContainsFunc(pairs, func(p [2]float64) bool { return p[1] == 0 }) {
		return s
	}
	ratios := each(pairs, func(p [2]float64) float64 { return p[0] / p[1] })
	s.Ratio, s.Lowest, s.Highest = median(ratios), slices.Min(ratios), slices.Max(ratios)
	return s
}

func each[T, U any](list []T, f func(T) U) []U {
	to := make([]U, len(list))
	for n, x := range list {
		to[n] = f(x)
	}
	return to
}

// median returns the middle of list, or the mean of the two in the middle; 0 for
// none.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	middle := len(list) / 2
	if len(list)%2 == 1 {
		return list[middle]
	}
	return (list[middle-1] + list[middle]) / 2
}

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
// than the figures, and the times until a response.
func (r report) printUsed(out io.Writer) {
	fmt.Fprint(out, "\nProcessor time of a request, address, lookup or start in µs, and times until a response in ms\n\n")
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

// A machine is where and with what a report was measured.
type machine struct {
	Commit     string            `json:"commit"` // of the source, with "+" if files differ from it
	Processor  string            `json:"processor"`
	Cores      int               `json:"cores"`
	System     string            `json:"system"`
	FileSystem string            `json:"file_system"` // of the databases, as df -T names it
	LoadBefore string            `json:"load_before"` // averages of 1, 5 and 15 minutes
	LoadAfter  string            `json:"load_after"`
	Versions   map[string]string `json:"versions"` // of programs
}

// newMachine describes this machine before the first measurement.
func newMachine(dir string) machine {
	return machine{
		Commit: commit(), Processor: processor(), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH,
		FileSystem: fileSystem(dir), LoadBefore: loadAverage(), Versions: versions(),
	}
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return unknown
}

const unknown = "unknown"

// fileSystem returns the type of the file system that has dir.
func fileSystem(dir string) string {
	words := strings.Fields(output("df", "-T", dir)) // the first line has eight words
	if len(words) < 10 {
		return unknown
	}
	return words[9]
}

func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	words := strings.Fields(string(text))
	return strings.Join(words[:min(3, len(words))], " ")
}

// versions names the programs that take part and are installed.
func versions() map[string]string {
	all := map[string]string{"go": runtime.Version()}
	for name, first := range map[string]string{
		"wrk":        firstLine(output("wrk", "-v")),
		"node":       firstLine(output("node", "--version")),
		"postgresql": firstLine(output("initdb", "--version")),
	} {
		if first != "" {
			all[name] = first
		}
	}
	return all
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// output returns what a command prints, whatever its exit code: wrk -v exits with 1.
func output(name string, args ...string) string {
	out, _ := exec.Command(name, args...).Output()
	return string(out)
}

func commit() string {
	name := strings.TrimSpace(output("git", "rev-parse", "--short", "HEAD"))
	if name == "" {
		return unknown
	}
	if output("git", "status", "--porcelain", "-uno") != "" {
		name += "+"
	}
	return name
}
