// Command soak starts the real program, causes the failures that an operator
// should expect, and checks what the service guarantees under each:
//
//	./build.sh soak [-seconds N] [-only NAME[/sqlite|/postgres],...]
//
// It prints the result and the measurements of each trial on each database, and
// exits with 1 if a trial failed. A trial that needs what this machine lacks
// (PostgreSQL, root) is reported as skipped.
//
// It observes the program only from outside: processes, sockets on loopback, DNS queries,
// the operator's commands, and SQLite's integrity check of the file.
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
	"time"
)

type options struct {
	seconds      int
	only, binary string
}

func main() {
	var o options
	flag.IntVar(&o.seconds, "seconds", fullLength, "about how long the run may take; fewer seconds mean fewer rounds")
	flag.StringVar(&o.only, "only", "",
		"run the trials whose NAME/DATABASE begins with one of these, separated by commas")
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

// A trial is a fault and the condition that must be true under it.
type trial struct {
	name      string
	condition string
	databases []string
	run       func(*session)
}

const (
	sqlite   = "sqlite"
	postgres = "postgres"
)

var both = []string{sqlite, postgres}

// trials are in the order of the report.
var trials = []trial{
	{"kill", "points in responses are in the ledger, what has none was in progress; a retry works at once; again in < 1 s",
		both, killed},
	{"replicas-2", "16 clients, a balance of N: exactly N points sold", both, func(s *session) { sold(s, 2) }},
	{"replicas-3", "the same on three replicas", []string{postgres}, func(s *session) { sold(s, 3) }},
	{"revoked", "no request that begins after a key is revoked gets a 200 on any replica, not even a replay", both,
		revoked},
	{"together-2", "the operator ends keys in use, while connections are cut, or the disk fills and processes are killed: all sums agree",
		both, func(s *session) { together(s, 2) }},
	{"together-3", "the same on three replicas", []string{postgres}, func(s *session) { together(s, 3) }},
	{"outage", "503 in shape A within a second, no lookups after it, recovery without restart, exact balance",
		[]string{postgres}, interrupted},
	{"resolver", "the contract's errors within the deadline; cached domains are still served", both, unresolved},
	{"stall", "a database held for up to 10 s: requests wait for most of a second and few are refused; exact balance",
		both, stalled},
	{"disk", "503, nothing charged, recovery when there is space", []string{sqlite}, diskFull},
	{"sigterm", "no request cut off: each is served or gets 503; exit 0 within the grace", both, terminated},
	{"bodies", "700 clients send 1 MiB each: bounded memory, another account's p50 < 60 ms", []string{sqlite}, bodies},
	{"idlers", "useless connections up to the limit: a new one is served at once, a request in flight is never cut",
		[]string{sqlite}, idlers},
	{"neighbour", "one account or five flood the service with silent domains: another's requests are served, p50 < 60 ms",
		[]string{sqlite}, neighbours},
}

// soak runs the trials that o selects, reports each, and returns how many failed.
func soak(ctx context.Context, o options, out io.Writer) (failed int, err error) {
	l, err := newLab(ctx, o)
	if err != nil {
		return 0, err
	}
	defer l.close()
	ran, known := 0, ""
	for _, t := range trials {
		for _, kind := range t.databases {
			name := t.name + "/" + kind
			known += " " + name
			selects := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
			if !slices.ContainsFunc(strings.Split(o.only, ","), selects) || ctx.Err() != nil {
				continue
			}
			ran++
			if !l.try(ctx, t, kind, out) {
				failed++
			}
		}
	}
	if ran == 0 && ctx.Err() == nil {
		return 0, errors.New("-only selects none of the trials:" + known)
	}
	fmt.Fprintf(out, "%d trials, %d failed\n", ran, failed)
	return failed, ctx.Err()
}

// trialTimeout ends a trial that hangs.
const trialTimeout = 4 * time.Minute

// try runs a trial on a new database, ends every process that it started, and prints the result.
func (l *lab) try(ctx context.Context, t trial, kind string, out io.Writer) (ok bool) {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	s := &session{lab: l, ctx: ctx, kind: kind}
	begun := time.Now()
	err := s.run(t)
	ok = len(s.failures) == 0 && (err == nil || errors.Is(err, errSkipped))
	word := "FAILED"
	switch {
	case ok && err != nil:
		word = "skipped"
	case ok:
		word = "ok"
	}
	fmt.Fprintf(out, "%-8s%-12s%-10s%5.1f s  %s\n", word, t.name, kind, time.Since(begun).Seconds(), t.condition)
	for _, figure := range s.figures {
		fmt.Fprintf(out, "%36s%s\n", "", figure)
	}
	for _, failure := range s.failures {
		fmt.Fprintf(out, "%36sFAILED: %s\n", "", failure)
	}
	if err != nil {
		fmt.Fprintf(out, "%36s%s: %v\n", "", word, err)
	}
	return ok
}
