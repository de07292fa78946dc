// Command soak starts the real program, causes the failures that an operator
// should expect, and checks what the service guarantees under each:
//
//	./build.sh soak [-seconds N] [-only NAME,...] [-database sqlite|postgres]
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
	"time"
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

// A trial is a fault and the condition that must be true under it.
type trial struct {
	name      string
	condition string
	databases []string
	run       func(*session) error
}

const (
	sqlite   = "sqlite"
	postgres = "postgres"
)

var both = []string{sqlite, postgres}

// trials are in the order of the report.
var trials = []trial{
	{"kill", "points in responses are in the ledger, what has none was in progress; a retry works at once; serves again in < 1 s", both, killed},
	{"kill-waiting", "no request that waits for the resolver is charged", both, killedWaiting},
	{"replicas-2", "16 clients, a balance of N: exactly N points sold; the rate within a tenth of a second", both, twoReplicas},
	{"replicas-3", "16 clients, a balance of N: exactly N points sold; the rate within a tenth of a second", []string{postgres}, threeReplicas},
	{"replicas-kill", "three replicas killed during a sale: nothing charged twice, not charged or overdrawn", []string{postgres}, replicasKilled},
	{"rate", "requests charged, by arrival in any time T <= capacity + rate x (T + 0.1 s), on replicas under contention", both, floodedReplicas},
	{"paced", "a client that keeps to its rate gets no 429, although its work takes up to 5 s", both, paced},
	{"leavers", "a client that hangs up while its request waits is not charged", both, leavers},
	{"revoked", "no request that begins after a key is revoked gets a 200 on any replica, not even a replay", both, revokedKeys},
	{"outage", "503 in shape A within a second, no lookups after it, recovery without restart, exact balance", []string{postgres}, outages},
	{"resolver", "the contract's errors within the deadline; cached domains are still served", both, resolverFaults},
	{"stall", "a database held for up to 10 s: requests wait for most of a second and few are refused; exact balance", both, stalls},
	{"disk", "503, nothing charged, recovery when there is space", []string{sqlite}, diskFull},
	{"sigterm", "no request cut off: each is served or gets 503; exit 0 within the grace", both, terminated},
	{"crowd", "4,000 idle or hostile connections: honest p99 within 3x, below 700 MiB", []string{sqlite}, crowded},
	{"bodies", "700 clients send 1 MiB each: bounded memory, another account's p50 < 60 ms", []string{sqlite}, bodies},
	{"idlers", "idle and slow connections up to the limit: a new one is served at once, a request in flight is never cut", []string{sqlite}, idlers},
	{"trap", "the request that traps gets 500 and costs nothing; the instance is replaced, the next request succeeds", both, trapped},
	{"bounds", "64 points and 1,000 batches: one is served; hanging up causes a bounded number of lookups", []string{sqlite}, bounded},
	{"neighbour", "one account or five flood the service with silent domains: another account's requests are served, p50 < 60 ms", []string{sqlite}, neighbours},
	{"worst", "a call's time is bounded by its input's length, on the worst input found", []string{sqlite}, worstInput},
}

// A verdict is the result of a trial on one database.
type verdict struct {
	*session
	took time.Duration
	err  error // why the trial ended early
}

func (v *verdict) failed() bool {
	return len(v.failures) > 0 || v.err != nil && !errors.Is(v.err, errSkipped)
}

func (v *verdict) print(out io.Writer) {
	word := "ok"
	if v.failed() {
		word = "FAILED"
	} else if v.err != nil {
		word = "skipped"
	}
	fmt.Fprintf(out, "%-8s%-14s%-10s%5.1f s  %s\n", word, v.trial.name, v.kind, v.took.Seconds(), v.trial.condition)
	for _, figure := range v.figures {
		fmt.Fprintf(out, "%40s%s\n", "", figure)
	}
	for _, failure := range v.failures {
		fmt.Fprintf(out, "%40sFAILED: %s\n", "", failure)
	}
	if v.err != nil {
		fmt.Fprintf(out, "%40s%s: %v\n", "", word, v.err)
	}
}
