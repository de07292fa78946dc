package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// A lab is what all trials share: the program, a resolver, a PostgreSQL.
type lab struct {
	dir      string
	binary   string
	cache    string // directory of compiled machine code
	dns      *mxtest.Server
	postgres func() (*pgtest.Server, error) // started by the first trial that needs it
	seconds  int
	release  []func()
}

// fullLength is the length of a full run in seconds.
const fullLength = 600

// times scales a number of rounds from a full run to this one.
func (l *lab) times(full int) int { return max(2, full*l.seconds/fullLength) }

// span scales a duration from a full run to this one.
func (l *lab) span(full time.Duration) time.Duration {
	return max(300*time.Millisecond, full*time.Duration(l.seconds)/fullLength)
}

const zone = `
	example.          300 IN SOA ns.example. hostmaster.example. 1 2 3 4 60
	mail.example.     300 IN MX  10 mx1.mail.example.
	servfail.example. 300 IN MX  10 mx1.mail.example.
	*.bulk.example.   300 IN MX  10 mx1.mail.example.
`

func newLab(ctx context.Context, o options) (l *lab, err error) {
	l = &lab{seconds: min(max(o.seconds, 1), fullLength)}
	l.dir, err = os.MkdirTemp("", "addrspec-soak-")
	if err != nil {
		return nil, err
	}
	l.release = append(l.release, func() { os.RemoveAll(l.dir) })
	l.cache = filepath.Join(l.dir, "cache")
	l.postgres = sync.OnceValues(func() (*pgtest.Server, error) {
		s, err := pgtest.Start()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errSkipped, err)
		}
		l.release = append(l.release, s.Close)
		return s, nil
	})
	if o.binary == "" {
		l.binary = filepath.Join(l.dir, "addrspec")
		err = origintest.BuildProgram(ctx, l.binary)
	} else {
		l.binary, err = filepath.Abs(o.binary)
	}
	if err == nil {
		l.dns, err = mxtest.Listen("127.0.0.1:0", zone)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	l.release = append(l.release, l.dns.Close)
	return l, nil
}

func (l *lab) close() {
	for _, release := range slices.Backward(l.release) {
		release()
	}
}

// A session is a trial on a database of its own.
type session struct {
	*lab
	ctx      context.Context
	kind     string // of the database
	dir      string
	database string // URL

	processes []*process
	figures   []string
	failures  []string
}

// errSkipped is wrapped by the error of a trial that cannot run on this machine.
var errSkipped = errors.New("not available here")

// An end is the panic with which check ends a trial.
type end struct{ err error }

// check ends the trial if err is not nil, as t.Fatal does. Only the trial's own goroutine
// may call it and the methods that call it.
func (s *session) check(err error) {
	if err != nil {
		panic(end{err})
	}
}

// run runs a trial, kills the processes that still run and searches all logs for secrets.
func (s *session) run(t trial) (err error) {
	defer func() {
		failure := recover()
		ended, isEnd := failure.(end)
		if failure != nil && !isEnd {
			panic(failure)
		}
		err = ended.err
		for _, p := range s.processes {
			p.Kill()
			log, failed := os.ReadFile(p.log)
			found := secret.Find(log)
			s.expect(failed == nil && found == nil, "a log contains %q: %v", found, failed)
			if err != nil {
				s.figure("a process's log ends with %.500s", log[max(0, len(log)-500):])
			}
		}
	}()
	s.dir, err = os.MkdirTemp(s.lab.dir, t.name+"-")
	s.check(err)
	s.database = "sqlite:" + filepath.Join(s.dir, "addrspec.db")
	if s.kind == postgres {
		s.database, err = s.server().EmptyDatabase(s.ctx)
		s.check(err)
	}
	s.dns.RespondAll(asNamed)
	s.dns.Respond("servfail.example", mxtest.ServFail)
	t.run(s)
	return nil
}

// server returns the PostgreSQL of all trials.
func (s *session) server() *pgtest.Server {
	server, err := s.postgres()
	s.check(err)
	return server
}

// secret matches an address or a key.
var secret = regexp.MustCompile(`[\w.]+@[\w.]+|ask_\w*`)

func (s *session) figure(format string, args ...any) {
	s.figures = append(s.figures, fmt.Sprintf(format, args...))
}

func (s *session) expect(ok bool, format string, args ...any) {
	if !ok {
		s.failures = append(s.failures, fmt.Sprintf(format, args...))
	}
}

// expectWithin records a time over the limit as a failure. A run shorter than the
// full length only reports it: other tests may keep the machine busy, and a short
// run proves nothing about speed.
func (s *session) expectWithin(took, limit time.Duration, what string) {
	if took > limit && s.seconds < fullLength {
		s.figure("%s took %s, more than %s (not judged in a short run)", what, round(took), limit)
		return
	}
	s.expect(took <= limit, "%s took %s, more than %s", what, round(took), limit)
}

// busy is the delay that busy processors may add to a response.
const busy = 250 * time.Millisecond

// A process is a running `addrspec serve`.
type process struct {
	*origintest.Process
	address string
	log     string // path of the file
}

// The flags of every process.
const (
	dnsTimeout   = time.Second
	batchTimeout = 3 * time.Second
	grace        = 10 * time.Second
)

// start runs the program at a free address and returns once it listens.
func (s *session) start(flags ...string) *process {
	address, err := origintest.FreeAddress()
	s.check(err)
	return s.startAt(address, flags...)
}

// startAt is start at a given address.
func (s *session) startAt(address string, flags ...string) *process {
	p := &process{address: address, log: filepath.Join(s.dir, fmt.Sprintf("log-%d", len(s.processes)))}
	cmd := exec.Command(s.binary, append([]string{"serve", "--listen", address, "--database", s.database, "--dns",
		s.dns.Addr,
		"--dns-timeout", dnsTimeout.String(), "--batch-timeout", batchTimeout.String(),
		"--grace", grace.String(), "--cache-dir", s.cache}, flags...)...)
	log, err := os.Create(p.log)
	s.check(err)
	defer log.Close()
	cmd.Stderr = log
	p.Process, err = origintest.Start(cmd, origintest.OnStdout)
	if err != nil {
		text, _ := os.ReadFile(p.log)
		s.check(fmt.Errorf("%w: %s", err, text[:min(300, len(text))]))
	}
	s.processes = append(s.processes, p)
	return p
}

// replicas starts processes on one database. at returns the same replica's address for each
// request of a client.
func (s *session) replicas(count int, flags ...string) (at func(client int) string) {
	var addresses []string
	for range count {
		addresses = append(addresses, s.start(flags...).address)
	}
	return func(client int) string { return addresses[client%count] }
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
