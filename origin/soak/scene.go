package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A trial is one fault and what must hold under it.
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
	{"kill", "every answered point is in the ledger, none twice; serves again in < 1 s; integrity check", both, killed},
	{"replicas-2", "16 clients, a balance of N: exactly N points sold; the rate within one bucket's error", both, twoReplicas},
	{"replicas-3", "16 clients, a balance of N: exactly N points sold; the rate within one bucket's error", []string{postgres}, threeReplicas},
	{"outage", "503 in shape A within a second, recovery without restart, nothing lost or doubled", []string{postgres}, outages},
	{"resolver", "the contract's errors within the deadline; cached domains still answer", both, resolverFaults},
	{"disk", "503, nothing charged, recovery when there is room", []string{sqlite}, diskFull},
	{"sigterm", "no request cut off: answered or refused with 503; exit 0 within the grace", both, terminated},
	{"crowd", "10,000 idle and slow connections: honest p99 within 3x, bounded memory", both, crowded},
	{"trap", "that request fails with 500 and costs nothing; the instance is replaced, the next succeeds", both, trapped},
	{"worst", "a call's time is bounded by its input's length, on the worst input found", []string{sqlite}, worstInput},
	{"clock", "set back across a month's end: no double refill, no lost points", both, clockSetBack},
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

// errSkipped says why a trial could not be run here.
var errSkipped = errors.New("cannot be had here")

func skip(why string) error { return fmt.Errorf("%s: %w", why, errSkipped) }

// try runs a trial on a new database and ends whatever it started.
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
		s.tellErrors()
	}
	return err
}

// tellErrors helps to find out why a trial could not go on.
func (s *scene) tellErrors() {
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

// clear kills what still runs, and reads the logs.
func (s *scene) clear() {
	for _, p := range s.processes {
		p.kill()
		s.expectPrivate(p)
	}
	s.dns.Heal()
}

// figure notes what was measured.
func (s *scene) figure(format string, args ...any) {
	s.figures = append(s.figures, fmt.Sprintf(format, args...))
}

// expect notes a failure where something did not hold.
func (s *scene) expect(holds bool, format string, args ...any) {
	if !holds {
		s.failures = append(s.failures, fmt.Sprintf(format, args...))
	}
}

// expectWithin judges a time. In less than the full length it only tells: there
// the machine may be busy with other tests, and a short run proves no speed.
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
