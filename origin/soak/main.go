// Command soak starts the real program, causes the faults that an operator
// should expect, and checks that the service keeps its promises:
//
//	go run ./origin/soak [-seconds N] [-only NAME,...] [-database sqlite|postgres] [-binary FILE]
//
// It prints the result of each trial on each database, with what was measured.
// It exits with 1 if a trial failed. A trial that needs what this machine lacks
// (PostgreSQL, root, open files, libfaketime) is reported as skipped.
//
// It sees the program only from outside: processes, sockets, DNS questions, the
// operator's commands, and SQLite's own check of its file. All sockets are on
// loopback.
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

// options are the command line.
type options struct {
	seconds  int
	only     string
	database string
	binary   string
}

func main() {
	var o options
	flag.IntVar(&o.seconds, "seconds", fullLength, "about how long all of it may take; fewer seconds are fewer rounds")
	flag.StringVar(&o.only, "only", "", "run the trials whose name begins with this, or with one of these with commas")
	flag.StringVar(&o.database, "database", "", "run only on this database: sqlite or postgres")
	flag.StringVar(&o.binary, "binary", "", "the addrspec to try (default: build it)")
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

// soak runs the trials that o selects and counts those that failed.
func soak(ctx context.Context, o options, out io.Writer) (failed int, err error) {
	l, err := newLab(ctx, o)
	if err != nil {
		return 0, err
	}
	defer l.close()
	ran, failed := l.tryAll(ctx, o.selects, out)
	if ran == 0 {
		return 0, errors.New("no trial has such a name, or not on this database; they are " + names())
	}
	fmt.Fprintf(out, "%d trials, %d failed\n", ran, failed)
	return failed, ctx.Err()
}

func (l *lab) tryAll(ctx context.Context, selects func(name, kind string) bool, out io.Writer) (ran, failed int) {
	for _, t := range trials {
		for _, kind := range t.databases {
			if !selects(t.name, kind) || ctx.Err() != nil {
				continue
			}
			v := l.try(ctx, t, kind)
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
