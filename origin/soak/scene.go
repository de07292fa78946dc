package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

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

// busy is the delay of an answer that a machine with busy processors may add.
const busy = 250 * time.Millisecond
