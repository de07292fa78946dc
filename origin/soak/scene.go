package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A trial is one fault and the conditions that must hold under it.
type trial struct {
	name      string
	holds     string
	databases []string
	run       func(*scene) error
}

const (
	sqlite   = "sqlite"
	postgres = "postgres"
)

var both = []string{sqlite, postgres}

// trials are in the order of the table that they prove.
var trials = []trial{
	{"kill", "answered points are in the ledger, at most one group unanswered; a retry works at once; serves again in < 1 s", both, killed},
	{"kill-waiting", "no request that waits for the resolver is charged", both, killedWaiting},
	{"replicas-2", "16 clients, a balance of N: exactly N points sold; the rate within a tenth of a second", both, twoReplicas},
	{"replicas-3", "16 clients, a balance of N: exactly N points sold; the rate within a tenth of a second", []string{postgres}, threeReplicas},
	{"replicas-kill", "three replicas killed during a sale: nothing charged twice, uncharged or overdrawn", []string{postgres}, replicasKilled},
	{"rate", "charged by arrival in any time T <= capacity + rate x (T + 0.1 s), on four replicas under contention", both, floodedReplicas},
	{"paced", "a client that keeps its rate gets no 429, although its work takes up to 5 s", both, paced},
	{"leavers", "a client that hangs up while its request waits is not charged", both, leavers},
	{"revoked", "no request that begins after a key is revoked gets a 200 on any replica, replays included", both, revokedKeys},
	{"outage", "503 in shape A within a second, no look-ups after it, recovery without restart, exact balance", []string{postgres}, outages},
	{"resolver", "the contract's errors within the deadline; cached domains still answer", both, resolverFaults},
	{"disk", "503, nothing charged, recovery when there is room", []string{sqlite}, diskFull},
	{"sigterm", "no request cut off: answered or refused with 503; exit 0 within the grace", both, terminated},
	{"crowd", "10,000 idle and slow connections: honest p99 within 3x, bounded memory", both, crowded},
	{"bodies", "700 callers send 1 MiB each: bounded memory, another account's p50 < 60 ms", []string{sqlite}, bodies},
	{"idlers", "idle and slow connections hold the cap: a newcomer is answered at once, a request under way is never cut", []string{sqlite}, idlers},
	{"trap", "that request fails with 500 and costs nothing; the instance is replaced, the next succeeds", both, trapped},
	{"bounds", "64 points and 1,000 batches: one works; hanging up causes a bounded number of look-ups", []string{sqlite}, bounded},
	{"neighbour", "a flood of silent domains by one account or by five: another account's requests are answered, p50 < 60 ms", []string{sqlite}, neighbours},
	{"worst", "a call's time is bounded by its input's length, on the worst input found", []string{sqlite}, worstInput},
	{"clock", "set back across a month's end: no double refill, no lost points; a jump of years rolls no month", both, clockSetBack},
}

// A scene is a trial on a database of its own.
type scene struct {
	*lab
	ctx      context.Context
	trial    trial
	kind     string // of the database
	dir      string
	database string // URL

	program     string // that is run, with further variables in its environment
	environment []string

	processes []*process
	figures   []string
	failures  []string
}

// errSkipped wraps the reason why a trial cannot be run here.
var errSkipped = errors.New("cannot be had here")

func skip(why string) error { return fmt.Errorf("%s: %w", why, errSkipped) }

// try runs a trial on a new database and ends every process that it started.
func (l *lab) try(ctx context.Context, t trial, kind string) *verdict {
	ctx, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()
	s := &scene{lab: l, ctx: ctx, trial: t, kind: kind, program: l.binary}
	begun := time.Now()
	err := s.play()
	return &verdict{s, time.Since(begun), err}
}

// trialLimit bounds a trial that hangs.
const trialLimit = 4 * time.Minute

func (s *scene) play() (err error) {
	if s.dir, err = os.MkdirTemp(s.lab.dir, s.trial.name+"-"); err != nil {
		return err
	}
	if s.database, err = s.emptyDatabase(); err != nil {
		return err
	}
	defer s.clear()
	if err = s.trial.run(s); err != nil {
		s.reportErrors()
	}
	return err
}

// reportErrors reports the processes' errors after a trial that could not go on.
func (s *scene) reportErrors() {
	for n, p := range s.processes {
		if last := p.lastError(); last != "" {
			s.figure("the last error of process %d: %s", n, last)
		}
	}
}

func (s *scene) emptyDatabase() (url string, err error) {
	if s.kind == sqlite {
		return "sqlite:" + filepath.Join(s.dir, "addrspec.db"), nil
	}
	pg, err := s.postgres()
	if err != nil {
		return "", err
	}
	return pg.EmptyDatabase(s.ctx)
}

// clear kills the processes that still run, and reads the logs.
func (s *scene) clear() {
	for _, p := range s.processes {
		p.Kill()
		s.expectPrivate(p)
	}
	s.dns.Heal()
}

// figure notes a measurement.
func (s *scene) figure(format string, args ...any) {
	s.figures = append(s.figures, fmt.Sprintf(format, args...))
}

// expect notes a failure unless the condition holds.
func (s *scene) expect(holds bool, format string, args ...any) {
	if !holds {
		s.failures = append(s.failures, fmt.Sprintf(format, args...))
	}
}

// expectWithin judges a time. A run of less than the full length only reports
// it: the machine may be busy with other tests, and a short run proves no speed.
func (s *scene) expectWithin(took, limit time.Duration, what string) {
	if took > limit {
		text := fmt.Sprintf("%s took %s, more than %s", what, round(took), limit)
		if s.seconds < fullLength {
			s.figure("%s (not judged in a short run)", text)
			return
		}
		s.failures = append(s.failures, text)
	}
}
