// Command bench measures the service beside its limits and prints one table:
//
//	go run ./origin/bench [-runs N] [-quick] [-only PATTERN] [-json FILE] [-against FILE] [-plots FOLDER]
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
	flags.StringVar(&o.plots, "plots", "", "measure how costs grow as well, and write a plot of each to this folder")
	flags.StringVar(&o.binary, "binary", "", "the addrspec program to measure (default: build it)")
	flags.StringVar(&o.dir, "dir", "", "the folder for databases, which decides whose disk is measured (default: the system's folder for temporary files)")
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
