// Command bench measures the service beside its limits and prints one table:
//
//	./build.sh bench [-runs N] [-quick] [-only PATTERN] [-json FILE]
//
// Each row compares our figure with that of a peer, or with a limit, which was measured in the
// same run, right after ours. The runs take turns, so that all rows see the same machine, and the
// table has the medians. Where a row cannot be measured here, because a program is missing, it
// says so.
//
// It exits with 0 however slow the service is. README.md says how to read the table.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
	"time"
)

type options struct {
	runs         int
	quick        bool
	only         *regexp.Regexp
	json, binary string
}

// roles are the processes beside the service, which this program starts from itself.
var roles = map[string]func() error{"role-bare": serveBare, "role-dns": serveDNS, "role-load": sendLoad}

func main() {
	err := run(os.Args[1:])
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 && roles[args[0]] != nil {
		return roles[args[0]]()
	}
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return bench(ctx, o, os.Stdout, os.Stderr)
}

func parse(args []string, out io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&o.runs, "runs", 0,
		"how many times each row is measured, one after another (default 5, with -quick 3)")
	flags.BoolVar(&o.quick, "quick", false, "measure each row for a short time; the figures vary more")
	only := flags.String("only", "", "measure the rows whose names match this regular expression")
	flags.StringVar(&o.json, "json", "", "write all figures of all runs to this file")
	flags.StringVar(&o.binary, "binary", "dist/addrspec", "the addrspec program to measure")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.only, err = regexp.Compile("(?i)" + *only)
	if err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	switch {
	case o.runs < 0 || flags.NArg() > 0:
		return o, errors.New("usage: bench [flags]; -help lists them, and -runs is at least 1")
	case o.runs == 0 && o.quick:
		o.runs = 3
	case o.runs == 0:
		o.runs = 5
	}
	return o, nil
}

// A row is one line of the table.
type row struct {
	name   string
	unit   string // of ours
	peer   string // what the figure is compared with
	target target

	// measure measures ours and the peer, one right after the other.
	measure func(*lab) pair
}

// rows returns all rows, in the order of the table.
func rows() []row {
	return slices.Concat(httpRows(), edgeRows(), moduleRows(), mxRows(), processRows(), peerRows())
}

// A pair is one measurement of a row. What a row does not measure is 0.
type pair struct {
	Ours float64 `json:"ours"`
	Peer float64 `json:"peer"`

	// Processor time of a request, an address, a lookup or a start, in microseconds.
	Used     float64 `json:"used,omitempty"`
	PeerUsed float64 `json:"peer_used,omitempty"`

	// The times of our responses, in milliseconds.
	P50 float64 `json:"p50,omitempty"`
	P99 float64 `json:"p99,omitempty"`
}

// A target bounds the ratio of ours and the peer.
type target struct {
	bound float64
	most  bool // the ratio is at most the bound, else at least
}

func atLeast(bound float64) target { return target{bound, false} }
func atMost(bound float64) target  { return target{bound, true} }

// judge returns the columns of the target and of whether it was met.
func (t target) judge(ratio float64) string {
	sign, met := "≥", "missed"
	if t.most {
		sign = "≤"
	}
	if t.bound == 0 {
		return "\t"
	}
	if t.most == (ratio <= t.bound) || ratio == t.bound {
		met = "met"
	}
	return fmt.Sprintf("%s %.4g\t%s", sign, t.bound, met)
}

// A failure is the panic with which lab.check ends the measurement of a row.
type failure struct{ err error }

// errSkipped is wrapped by the error of a row that cannot be measured on this machine.
var errSkipped = errors.New("skipped")

// bench measures the rows that o selects, each once a run, and prints and writes the report. A
// row that fails is not measured again. Nothing is reported if ctx ends, since rows lack runs.
func bench(ctx context.Context, o options, out, progress io.Writer) error {
	var results []*result
	names := ""
	for _, r := range rows() {
		names += "\n" + r.name
		if o.only.MatchString(r.name) {
			results = append(results, &result{row: r, Name: r.name})
		}
	}
	if len(results) == 0 {
		return errors.New("-only matches none of the rows:" + names)
	}
	l, err := newLab(ctx, o)
	if err != nil {
		return err
	}
	defer l.close()
	report := newReport(l.dir)
	for run := range o.runs {
		fmt.Fprintf(progress, "run %d of %d, after %s\n", run+1, o.runs, time.Since(report.Date).Round(time.Second))
		for _, r := range results {
			if r.Error == "" && ctx.Err() == nil {
				r.run(l)
			}
		}
	}
	if ctx.Err() != nil {
		return errors.New("interrupted: nothing is reported, since rows lack runs")
	}
	report.LoadAfter, report.Rows = loadAverage(), results
	report.print(out)
	if o.json == "" {
		return nil
	}
	data, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.json, append(data, '\n'), 0o644)
}
