package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// clockSetBack sets the ledger's clock across the end of a month and back. The
// clock is the program's with SQLite and the server's with PostgreSQL. No month is
// refilled twice and no point is lost. A jump of years while the program runs does
// not advance the month.
func clockSetBack(s *session) error {
	clock, err := s.newClock()
	if err != nil {
		return err
	}
	defer clock.remove()
	m := &monthEnd{session: s, clock: clock}
	for _, part := range []func() error{m.oneAfterAnother, m.underLoad, m.bucket, m.farJump} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// A monthEnd is a service whose clock is near the end of a future month.
type monthEnd struct {
	*session
	clock *clock
	at    func(client int) string
}

// startBefore sets the clock to just before a month's end and restarts the
// processes, since a running one ignores a jump of a day or more.
func (m *monthEnd) startBefore(months int) (err error) {
	for _, p := range m.processes {
		p.Kill()
	}
	if err = m.before(months); err == nil {
		m.at, err = m.clock.startReplicas(m.session)
	}
	return err
}

// before and after set the clock near the end of a month, given as months from now.
// The ledger's months only advance, so each part of the trial uses a later one.
func (m *monthEnd) before(months int) error { return m.clock.set(firstOf(months).Add(-time.Minute)) }
func (m *monthEnd) after(months int) error  { return m.clock.set(firstOf(months).Add(time.Minute)) }

func firstOf(months int) time.Time {
	now := time.Now().UTC()
	return time.Date(now.Year(), now.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
}

// oneAfterAnother buys on both sides of a month's end, with 100 points a month.
func (m *monthEnd) oneAfterAnother() error {
	if err := m.startBefore(1); err != nil {
		return err
	}
	a, err := m.newAccount("calm", unlimited, "100")
	if err != nil {
		return err
	}
	sum := int64(0)
	for _, step := range []struct {
		when       string
		set        func(int) error
		asks, sold int64
	}{
		{"before the month's end", m.before, 60, 60},
		{"after it: refilled", m.after, 30, 30},
		{"set back: the later month continues", m.before, 100, 70},
		{"after it again: no second refill", m.after, 10, 0},
		{"set back again", m.before, 10, 0},
	} {
		if err := step.set(1); err != nil {
			return err
		}
		sold := m.buy(a, step.asks)
		m.expect(sold == step.sold, "%s: %d points of %d requested were sold, want %d", step.when, sold, step.asks, step.sold)
		m.figure("%-42s %3d requested, %3d sold", step.when+":", step.asks, sold)
		sum += sold
	}
	return m.expectHistory(a, sum)
}

// buy requests points one at a time, from both replicas in turn, and returns how
// many were sold.
func (m *monthEnd) buy(a account, points int64) (sold int64) {
	clients := []*client{{address: m.at(0), key: a.key}, {address: m.at(1), key: a.key}}
	for n := range points {
		o := clients[n%2].send(single("jane@mail.example"))
		if o.status == 200 {
			sold++
		}
		m.expect(o.status == 200 || o.status == 429, "the response is %d: %s %v", o.status, o.body, o.err)
	}
	return sold
}

// underLoad sets the clock forward and back while clients buy all points.
func (m *monthEnd) underLoad() error {
	if err := m.startBefore(2); err != nil {
		return err
	}
	balance := int64(m.times(20_000))
	a, err := m.newAccount("busy", unlimited, fmt.Sprint(balance))
	if err != nil {
		return err
	}
	early := m.buy(a, 50)
	if err := m.after(2); err != nil {
		return err
	}
	rest := balance - m.buy(a, 50)
	l := &load{account: a, clients: buyers, at: m.at}
	l.next = func(_, n int) request { return usual(n) }
	stop := l.start(m.ctx)
	defer stop()
	flips := 0
	for ; l.responses(429) < 100 && m.ctx.Err() == nil; flips++ {
		set := []func(int) error{m.before, m.after}[flips%2]
		if err := set(2); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	m.figure("set %d times under load: %d points of %d sold; %s", flips, l.points, rest, &l.tally)
	m.expect(l.points == rest, "%d points were sold of %d", l.points, rest)
	m.expectContract(&l.tally)
	return m.expectHistory(a, early+balance)
}

// bucket sets the clock back by an hour while the token bucket is empty. The bucket
// must refill at once, not only after that hour.
func (m *monthEnd) bucket() error {
	if err := m.after(2); err != nil {
		return err
	}
	a, err := m.newAccount("bucket", "5", unlimited)
	if err != nil {
		return err
	}
	m.buy(a, 10)
	if err := m.clock.set(firstOf(2).Add(-time.Hour)); err != nil {
		return err
	}
	begun := time.Now()
	for m.buy(a, 1) == 0 && time.Since(begun) < 10*time.Second {
		time.Sleep(10 * time.Millisecond)
	}
	m.figure("set back by an hour with an empty bucket: served after %s", round(time.Since(begun)))
	m.expect(time.Since(begun) < 3*time.Second, "the account was refused for %s", round(time.Since(begun)))
	return nil
}

// farJump sets the clock to 2036 while the program runs. The month does not
// advance, so used points stay used, also once the clock is set back.
func (m *monthEnd) farJump() error {
	if err := m.startBefore(3); err != nil {
		return err
	}
	poor, err := m.newAccount("poor", unlimited, "20")
	if err != nil {
		return err
	}
	rich, err := m.newAccount("rich", unlimited, "20")
	if err != nil {
		return err
	}
	sold := m.buy(poor, 30)
	m.expect(sold == 20 && m.buy(rich, 5) == 5, "before the jump %d points of 20 were sold", sold)
	if err := m.clock.set(time.Date(2036, 6, 15, 12, 0, 0, 0, time.UTC)); err != nil {
		return err
	}
	during := m.buyDuring(poor, time.Second)
	if err := m.before(3); err != nil {
		return err
	}
	time.Sleep(time.Second + busy) // a replica's view is at most a second old
	after, rest := m.buy(poor, 10), m.buy(rich, 20)
	m.figure("with all 20 points used: %d sold in 2036, %d after the clock was set back; with 5 used: %d after it", during, after, rest)
	m.expect(during == 0 && after == 0, "%d points were sold in 2036 and %d after it: the month advanced", during, after)
	m.expect(rest == 15, "%d points were sold after the clock was set back, want 15", rest)
	return errors.Join(m.expectHistory(poor, 20), m.expectHistory(rich, 20))
}

// buyDuring requests points one at a time for a while.
func (m *monthEnd) buyDuring(a account, length time.Duration) (sold int64) {
	for begun := time.Now(); time.Since(begun) < length; time.Sleep(20 * time.Millisecond) {
		sold += m.buy(a, 2)
	}
	return sold
}

// expectHistory expects the usage history of all months to sum to sold.
func (m *monthEnd) expectHistory(a account, sold int64) error {
	history, err := m.history(a)
	m.expect(history == sold, "%s: the history sums to %d points, %d were sold", a.email, history, sold)
	return err
}

// A clock sets the time of the ledger.
type clock struct {
	dir     string
	program string // file of the seconds by which the program's clock is ahead
	server  string // the same for PostgreSQL, in libfaketime's format; "" with SQLite
	release []func()
}

// newClock makes a clock and has the session's programs use it.
func (s *session) newClock() (c *clock, err error) {
	c = &clock{}
	if c.dir, err = os.MkdirTemp("", "addrspec-clock-"); err != nil {
		return nil, err
	}
	c.release = append(c.release, func() { os.RemoveAll(c.dir) })
	c.program = filepath.Join(c.dir, "program")
	if s.kind == postgres {
		c.server = filepath.Join(c.dir, "server")
	}
	if err = errors.Join(os.Chmod(c.dir, 0o755), c.set(time.Now())); err == nil && s.kind == postgres {
		err = c.startServer(s)
	}
	if err == nil {
		s.environment = []string{offsetVariable + "=" + c.program}
		s.program, err = s.lab.shifted()
	}
	if err != nil {
		c.remove()
	}
	return c, err
}

func (c *clock) remove() {
	for n := len(c.release) - 1; n >= 0; n-- {
		c.release[n]()
	}
}

// set sets the clock, at once for every process that reads it.
func (c *clock) set(to time.Time) error {
	seconds := int64(time.Until(to) / time.Second)
	var offset [8]byte
	binary.NativeEndian.PutUint64(offset[:], uint64(seconds))
	err := overwrite(c.program, offset[:])
	if c.server != "" {
		err = errors.Join(err, overwrite(c.server, fmt.Appendf(nil, "%+012d\n", seconds)))
	}
	return err
}

// overwrite changes a file in place without changing its length, so that no reader
// sees a part of it.
func overwrite(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(content, 0)
	return errors.Join(err, file.Close())
}

// startServer starts a PostgreSQL with a clock that libfaketime sets.
func (c *clock) startServer(s *session) error {
	found, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(found) == 0 {
		return skip("setting PostgreSQL's clock needs libfaketime: apt-get install faketime")
	}
	pg, err := pgtest.Start("LD_PRELOAD="+found[0], "FAKETIME_TIMESTAMP_FILE="+c.server, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1")
	if err != nil {
		return err
	}
	c.release = append(c.release, pg.Close)
	s.database, err = pg.EmptyDatabase(s.ctx)
	return err
}

// startReplicas starts two processes. With PostgreSQL the second one's own clock is
// correct and the first one's is set with the server's: neither must matter.
func (c *clock) startReplicas(s *session) (at func(client int) string, err error) {
	first, err := s.start()
	if err != nil {
		return nil, err
	}
	if s.kind == postgres {
		s.program = s.lab.binary
	}
	second, err := s.start()
	s.program, _ = s.lab.shifted()
	if err != nil {
		return nil, err
	}
	list := []string{first.address, second.address}
	return func(client int) string { return list[client%2] }, nil
}

// offsetVariable is the environment variable that names the file a shifted program
// reads.
const offsetVariable = "SOAK_CLOCK"

// now replaces time.Now in a shifted program. The wall clock is ahead by the
// seconds in the file and the monotonic clock is unchanged, as when an operator
// sets a machine's clock. The file is mapped into memory because the runtime also
// reads the time where it cannot make a system call.
const now = `
var ahead = mapAhead()

func mapAhead() []byte {
	name, _ := syscall.Getenv("` + offsetVariable + `")
	file, err := syscall.Open(name, syscall.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	mapped, _ := syscall.Mmap(file, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	return mapped
}

func Now() Time {
	t := trueNow()
	if len(ahead) == 8 {
		t.addSec(*(*int64)(unsafe.Pointer(&ahead[0])))
	}
	return t
}
`

// buildShifted builds the program with another time.Now and no other change, since
// no tool can set the clock of a static program from outside.
func (l *lab) buildShifted(ctx context.Context) (path string, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src/time/time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	renamed := bytes.Replace(source, []byte("func Now() Time {"), []byte("func trueNow() Time {"), 1)
	imports := bytes.Replace(renamed, []byte("import (\n"), []byte("import (\n\t\"syscall\"\n\t\"unsafe\"\n"), 1)
	changed := filepath.Join(l.dir, "time.go")
	if err := os.WriteFile(changed, append(imports, now...), 0o600); err != nil {
		return "", err
	}
	path = filepath.Join(l.dir, "addrspec-shifted")
	return path, l.buildProgram(ctx, path, map[string]string{original: changed})
}
