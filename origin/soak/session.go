package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A session is a trial on a database of its own.
type session struct {
	*lab
	ctx      context.Context
	trial    trial
	kind     string // of the database
	dir      string
	database string // URL

	program     string   // path of the program to run
	environment []string // further environment variables of the program

	processes []*process
	figures   []string
	failures  []string
}

// errSkipped is wrapped by the error of a trial that cannot run on this machine.
var errSkipped = errors.New("not available here")

// skip returns the error of a trial that cannot run here.
func skip(why string) error { return fmt.Errorf("%s: %w", why, errSkipped) }

// runTrial runs a trial on a new database and ends every process that it started.
func (l *lab) runTrial(ctx context.Context, t trial, kind string) *verdict {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	s := &session{lab: l, ctx: ctx, trial: t, kind: kind, program: l.binary}
	begun := time.Now()
	err := s.run()
	return &verdict{s, time.Since(begun), err}
}

// trialTimeout ends a trial that hangs.
const trialTimeout = 4 * time.Minute

func (s *session) run() (err error) {
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

// reportErrors reports the last error of each process after a trial has failed to
// complete.
func (s *session) reportErrors() {
	for n, p := range s.processes {
		if last := p.lastError(); last != "" {
			s.figure("the last error of process %d: %s", n, last)
		}
	}
}

// emptyDatabase returns the URL of a new database.
func (s *session) emptyDatabase() (url string, err error) {
	if s.kind == sqlite {
		return "sqlite:" + filepath.Join(s.dir, "addrspec.db"), nil
	}
	pg, err := s.postgres()
	if err != nil {
		return "", err
	}
	return pg.EmptyDatabase(s.ctx)
}

// clear kills the processes that still run and checks all logs.
func (s *session) clear() {
	for _, p := range s.processes {
		p.Kill()
		s.expectNoSecrets(p)
	}
	s.dns.Heal()
}

// figure records a measurement.
func (s *session) figure(format string, args ...any) {
	s.figures = append(s.figures, fmt.Sprintf(format, args...))
}

// expect records a failure unless ok.
func (s *session) expect(ok bool, format string, args ...any) {
	if !ok {
		s.failures = append(s.failures, fmt.Sprintf(format, args...))
	}
}

// expectWithin records a time over the limit as a failure. A run shorter than the
// full length only reports it: other tests may keep the machine busy, and a short
// run proves nothing about speed.
func (s *session) expectWithin(took, limit time.Duration, what string) {
	if took > limit {
		text := fmt.Sprintf("%s took %s, more than %s", what, round(took), limit)
		if s.seconds < fullLength {
			s.figure("%s (not judged in a short run)", text)
			return
		}
		s.failures = append(s.failures, text)
	}
}

// busy is the delay that busy processors may add to a response.
const busy = 250 * time.Millisecond
