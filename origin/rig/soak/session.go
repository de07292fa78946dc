package main

import (
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/addrspec/addrspec/origin/rig/origintest"
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

// A process is a running `addrspec serve`.
type process struct {
	*origintest.Process
	address string
	log     string // path of the file
}

// start runs the program at a free address and returns once it listens.
func (s *session) start(flags ...string) (*process, error) {
	address, err := origintest.FreeAddress()
	if err != nil {
		return nil, err
	}
	return s.startAt(address, flags...)
}

// startAt is start at a given address.
func (s *session) startAt(address string, flags ...string) (*process, error) {
	args := append([]string{"serve", "--listen", address, "--database", s.database, "--dns", s.dns.Addr,
		"--dns-timeout", dnsTimeout.String(), "--batch-timeout", batchTimeout.String(),
		"--grace", grace.String(), "--cache-dir", s.cache}, flags...)
	p := &process{address: address, log: filepath.Join(s.dir, fmt.Sprintf("log-%d", len(s.processes)))}
	cmd := exec.Command(s.program, args...)
	cmd.Env = append(os.Environ(), s.environment...)
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	if p.Process, err = origintest.Start(cmd, origintest.OnStdout); err != nil {
		text, _ := os.ReadFile(p.log)
		return nil, fmt.Errorf("%w: %s", err, text[:min(300, len(text))])
	}
	s.processes = append(s.processes, p)
	return p, nil
}

// The flags of every process.
const (
	dnsTimeout   = time.Second
	batchTimeout = 3 * time.Second
	grace        = 10 * time.Second
)

// expectNoSecrets expects no address and no key in a process's log.
func (s *session) expectNoSecrets(p *process) {
	log, err := os.ReadFile(p.log)
	s.expect(err == nil, "%v", err)
	if found := secret.Find(log); found != nil {
		s.expect(false, "a log contains %q", found)
	}
}

// lastError returns the last error in the process's log.
func (p *process) lastError() string {
	log, _ := os.ReadFile(p.log)
	last := ""
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, `"level":"ERROR"`) || !strings.HasPrefix(line, "{") {
			last = strings.TrimSpace(line)
		}
	}
	return last
}

// secret matches an address or a key.
var secret = regexp.MustCompile(`[\w.]+@[\w.]+|ask_\w*`)

// resetPeak sets VmHWM to the present memory (Linux 4.0 and later).
func (p *process) resetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte("5"), 0)
}

// An account is an account with a key.
type account struct{ email, key string }

const unlimited = "unlimited"

// newAccount creates an account and a key with the operator's commands.
func (s *session) newAccount(name, rate, points string) (a account, err error) {
	a.email = name + "@soak.test"
	a.key, err = s.operator().NewAccount(s.ctx, a.email, rate, points)
	return a, err
}

// operator runs commands of the program on the session's database.
func (s *session) operator() origintest.Operator {
	return origintest.Operator{Program: s.program, Database: s.database, Environment: s.environment}
}

// used returns the account's points of this month.
func (s *session) used(a account) (int64, error) {
	return s.sum([]string{"account", "list", "--to", "csv"}, "used", func(row map[string]string) bool { return row["email"] == a.email })
}

// history returns the sum of the account's usage history.
func (s *session) history(a account) (int64, error) {
	return s.sum([]string{"usage", "--account", a.email, "--first", "1970-01-01", "--last", "2999-12-31", "--to", "csv"},
		"points", func(map[string]string) bool { return true })
}

// sum adds up a column of a command's CSV output, in the rows for which counts
// returns true.
func (s *session) sum(command []string, column string, counts func(map[string]string) bool) (sum int64, err error) {
	text, err := s.operator().Run(s.ctx, command...)
	if err != nil {
		return 0, err
	}
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) == 0 {
		return 0, fmt.Errorf("%v: not CSV: %w", command, err)
	}
	for _, record := range records[1:] {
		row := map[string]string{}
		for n, name := range records[0] {
			row[name] = record[n]
		}
		if counts(row) {
			n, err := strconv.ParseInt(row[column], 10, 64)
			if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return sum, nil
}

// expectLedger expects the account's points to be between least and most, its
// history to sum to them, and SQLite's file to be intact. No request may be in
// progress.
func (s *session) expectLedger(a account, least, most int64) error {
	used, err := s.used(a)
	if err != nil {
		return err
	}
	history, err := s.history(a)
	if err != nil {
		return err
	}
	s.expect(used >= least, "%s: the ledger has %d points, responses reported %d", a.email, used, least)
	s.expect(used <= most, "%s: the ledger has %d points, at most %d can have been charged", a.email, used, most)
	s.expect(used == history, "%s: the history sums to %d points, the account has %d", a.email, history, used)
	if s.kind == sqlite {
		return s.expectIntegrity(s.ctx)
	}
	return nil
}

// expectIntegrity has SQLite check the integrity of its file.
func (s *session) expectIntegrity(ctx context.Context) error {
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(s.database, "sqlite:")+"?_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	defer db.Close()
	var result string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&result); err != nil {
		return err
	}
	s.expect(result == "ok", "integrity check: %s", result)
	return nil
}

// expectLedgerOf is expectLedger for the accounts of two loads, which it pauses.
func (s *session) expectLedgerOf(l *load, o *onceLoad) error {
	return l.atRest(func() error {
		return o.atRest(func() error {
			least, most := l.charged()
			if err := s.expectLedger(l.account, least, most); err != nil {
				return err
			}
			least, most = o.charged()
			return s.expectLedger(o.account, least, most)
		})
	})
}

// percentile returns the least time that p percent of times do not exceed.
func percentile(times []time.Duration, p int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[(len(sorted)*p+99)/100-1]
}

// round rounds d to three digits.
func round(d time.Duration) time.Duration {
	unit := time.Nanosecond
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
