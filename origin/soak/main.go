// Command soak starts the real program, causes the failures that an operator
// should expect, and checks what the service guarantees under each:
//
//	go run ./origin/soak [-seconds N] [-only NAME,...] [-database sqlite|postgres] [-binary FILE]
//
// It prints the result and the measurements of each trial on each database, and
// exits with 1 if a trial failed. A trial that needs what this machine lacks
// (PostgreSQL, root, open files, libfaketime) is reported as skipped.
//
// It observes the program only from outside: processes, sockets, DNS queries, the
// operator's commands, and SQLite's integrity check of the file. All sockets are
// on loopback.
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
	"syscall"
)

// options are the flags.
type options struct {
	seconds  int
	only     string
	database string
	binary   string
}

func main() {
	var o options
	flag.IntVar(&o.seconds, "seconds", fullLength, "about how long the whole run may take; fewer seconds mean fewer rounds")
	flag.StringVar(&o.only, "only", "", "run the trials whose names begin with one of these prefixes, separated by commas")
	flag.StringVar(&o.database, "database", "", "run on this database only: sqlite or postgres")
	flag.StringVar(&o.binary, "binary", "", "the addrspec program to test (default: build it)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed, err := soak(ctx, o, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
	}
	if err != nil || failed > 0 {
		os.Exit(1)
	}
}

// soak runs the trials that o selects and returns how many failed.
func soak(ctx context.Context, o options, out io.Writer) (failed int, err error) {
	l, err := newLab(ctx, o)
	if err != nil {
		return 0, err
	}
	defer l.close()
	ran, failed := l.runAll(ctx, o.selects, out)
	if ran == 0 {
		return 0, errors.New("no trial of that name on that database; the trials are " + names())
	}
	fmt.Fprintf(out, "%d trials, %d failed\n", ran, failed)
	return failed, ctx.Err()
}

func (l *lab) runAll(ctx context.Context, selects func(name, kind string) bool, out io.Writer) (ran, failed int) {
	for _, t := range trials {
		for _, kind := range t.databases {
			if !selects(t.name, kind) || ctx.Err() != nil {
				continue
			}
			v := l.runTrial(ctx, t, kind)
			v.print(out)
			ran++
			if v.failed() {
				failed++
			}
		}
	}
	return ran, failed
}

func (o *options) selects(name, kind string) bool {
	return (o.database == "" || o.database == kind) && slices.ContainsFunc(strings.Split(o.only, ","),
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func names() string {
	var list []string
	for _, t := range trials {
		list = append(list, t.name)
	}
	return strings.Join(list, ", ")
}
