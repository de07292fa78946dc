// Command bench measures the service beside its limits and prints one table:
//
//	./build.sh bench [-runs N] [-quick] [-only PATTERN] [-json FILE] [-against FILE] [-plots DIRECTORY]
//
// Each row compares our figure with that of a peer, or with a limit of the machine,
// which was measured in the same run, right before or after ours. The runs take turns,
// so that all rows see the same machine, and the table has the medians. Where a row
// cannot be measured here, because a program is missing, it says so.
//
// Figures of HTTP come from load that another process makes: wrk if it is installed,
// else this program itself, as a process of its own. The service, the peer and the DNS
// server are processes of their own as well.
//
// It exits with 0 however slow the service is. README.md beside this file says how to
// read the table and what limits each figure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	runs          int
	quick, list   bool
	only          *regexp.Regexp
	json, against string
	plots         string
	binary        string
	dir           string
}

func main() {
	if role, found := roles[argument(1)]; found {
		os.Exit(role(os.Args[2:]))
	}
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err == nil {
		err = bench(ctx, o, os.Stdout, newProgress(os.Stderr))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func argument(n int) string {
	if n < len(os.Args) {
		return os.Args[n]
	}
	return ""
}

// roles are the processes beside the service, which this program starts from itself.
var roles = map[string]func(args []string) int{
	"role-bare": serveBare,
	"role-dns":  serveDNS,
	"role-load": sendLoad,
}

const (
	usualRuns = 5
	quickRuns = 3
)

func isSet(flags *flag.FlagSet, name string) (set bool) {
	flags.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

func parse(args []string, out io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&o.runs, "runs", usualRuns, "how many times each row is measured, one after another")
	flags.BoolVar(&o.quick, "quick", false, "measure each row for a short time, in 3 runs; the figures vary more")
	flags.BoolVar(&o.list, "list", false, "print the names of the rows, and measure nothing")
	only := flags.String("only", "", "measure the rows whose names match this regular expression")
	flags.StringVar(&o.json, "json", "", "write all figures of all runs to this file")
	flags.StringVar(&o.against, "against", "", "compare with the figures in this file, which -json wrote")
	flags.StringVar(&o.plots, "plots", "", "measure how costs grow as well, and write a plot of each to this directory")
	flags.StringVar(&o.binary, "binary", "", "the addrspec program to measure (default: build it)")
	flags.StringVar(&o.dir, "dir", "", "the directory for databases, which decides whose disk is measured (default: the system's directory for temporary files)")
	if err = flags.Parse(args); err != nil {
		return o, err
	}
	if o.only, err = regexp.Compile("(?i)" + *only); err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	if o.quick && !isSet(flags, "runs") {
		o.runs = quickRuns
	}
	if o.runs < 1 || flags.NArg() > 0 {
		return o, errors.New("usage: bench [flags]; -help lists them, and -runs is at least 1")
	}
	return o, nil
}

// bench measures the rows that o selects, and prints and writes the report.
func bench(ctx context.Context, o options, out io.Writer, to progress) error {
	selected := selectRows(o)
	if len(selected) == 0 {
		return errors.New("-only matches no row; -list prints their names")
	}
	if o.list {
		for _, r := range selected {
			fmt.Fprintln(out, r.name)
		}
		return nil
	}
	before, err := readBefore(o.against)
	if err != nil {
		return err
	}
	r, err := measure(ctx, selected, o, to)
	if err != nil {
		return err
	}
	return finish(r, before, o, out)
}

// measure measures the selected rows, and the plots if they are wanted. It reports
// nothing if ctx ends, since rows lack runs.
func measure(ctx context.Context, selected []row, o options, to progress) (r report, err error) {
	l, err := newLab(ctx, o)
	if err != nil {
		return r, err
	}
	defer l.close()
	machine := newMachine(l.dir)
	results := measureAll(ctx, l, selected, o, to)
	var plots []plot
	if o.plots != "" {
		plots = measurePlots(ctx, l, to)
	}
	if ctx.Err() != nil {
		return r, errors.New("interrupted: nothing is reported, since rows lack runs")
	}
	machine.LoadAfter = loadAverage()
	r = newReport(results, machine)
	r.Plots = plots
	return r, nil
}

func selectRows(o options) (selected []row) {
	for _, r := range rows() {
		if o.only.MatchString(r.name) {
			selected = append(selected, r)
		}
	}
	return selected
}

// measureAll measures each row once a run. A row that fails is not measured again.
func measureAll(ctx context.Context, l *lab, selected []row, o options, to progress) []result {
	results := make([]result, len(selected))
	for n, r := range selected {
		results[n].row = r
	}
	begun := time.Now()
	for run := range o.runs {
		if ctx.Err() != nil {
			break
		}
		to.note("run %d of %d, after %s", run+1, o.runs, time.Since(begun).Round(time.Second))
		for n := range results {
			if results[n].err != nil || ctx.Err() != nil {
				continue
			}
			to.show("run %d of %d, %s: %s", run+1, o.runs, time.Since(begun).Round(time.Second), results[n].name)
			results[n].add(results[n].measure(ctx, l))
		}
	}
	to.show("")
	return results
}

// finish prints the table and writes the files that o names.
func finish(r report, before *report, o options, out io.Writer) error {
	r.print(out)
	if before != nil {
		r.printChanges(out, *before)
	}
	if o.json != "" {
		if err := r.write(o.json); err != nil {
			return err
		}
	}
	if o.plots != "" {
		return writePlots(o.plots, r.Plots)
	}
	return nil
}

// A row is one line of the table.
type row struct {
	name   string
	unit   string // of ours
	peer   string // what the figure is compared with
	target target

	// measure measures ours and the peer, one right after the other.
	measure func(context.Context, *lab) (pair, error)
}

// A pair is one measurement of a row. What a row does not measure is 0.
type pair struct {
	Ours float64 `json:"ours"`
	Peer float64 `json:"peer"`

	// Processor time of a request, an address or a start, in microseconds.
	Used     float64 `json:"used,omitempty"`
	PeerUsed float64 `json:"peer_used,omitempty"`

	// The times of our responses, in milliseconds.
	P50 float64 `json:"p50,omitempty"`
	P99 float64 `json:"p99,omitempty"`
}

func (p pair) ratio() float64 { return p.Ours / p.Peer }

// A target bounds the ratio of ours and the peer.
type target struct {
	bound float64
	most  bool // the ratio is at most the bound, else at least
}

func atLeast(bound float64) target { return target{bound, false} }
func atMost(bound float64) target  { return target{bound, true} }

func (t target) met(ratio float64) bool { return t.most == (ratio <= t.bound) || ratio == t.bound }

func (t target) String() string {
	if t.bound == 0 {
		return ""
	}
	if t.most {
		return fmt.Sprintf("≤ %.4g", t.bound)
	}
	return fmt.Sprintf("≥ %.4g", t.bound)
}

// errMeasured is the error of a row that takes minutes, after its first run.
var errMeasured = errors.New("measured in the first run")

// errSkipped is wrapped by the error of a row that cannot be measured on this machine.
var errSkipped = errors.New("skipped")

func skip(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errSkipped, fmt.Sprintf(format, args...))
}

// rows are all rows, in the order of the table.
func rows() []row {
	var list []row
	for _, family := range [][]row{singles(), batches(), replicaRows(), chargeRows(), edgeRows(), moduleRows(), parseRows(), mxRows(), commandRows(), startRows(), memoryRows(), growthRows()} {
		list = append(list, family...)
	}
	return list
}

// A progress says on standard error what is measured now.
type progress struct {
	out      io.Writer
	terminal bool // else only notes are written, which a log can keep
}

func newProgress(file *os.File) progress {
	info, err := file.Stat()
	return progress{file, err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// clearLine goes to the beginning of a terminal's line and clears it.
const clearLine = "\r\x1b[K"

// show replaces the line by another.
func (p progress) show(format string, args ...any) {
	if p.terminal {
		fmt.Fprintf(p.out, clearLine+format, args...)
	}
}

// note writes a line that remains.
func (p progress) note(format string, args ...any) {
	p.show("")
	fmt.Fprintf(p.out, format+"\n", args...)
}
