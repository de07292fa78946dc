package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// outages interrupts PostgreSQL in several ways, under load on two replicas.
// Meanwhile requests get 503 in shape A within a second. The service recovers by
// itself, and the ledger agrees exactly with the responses.
func outages(s *session) error {
	pg, err := s.postgres()
	if err != nil {
		return err
	}
	proxy, err := pg.Proxy()
	if err != nil {
		return err
	}
	defer proxy.Close()
	o, err := s.newOutage(proxy.URL(s.database))
	if err != nil {
		return err
	}
	for _, fault := range []struct {
		name string
		do   func(*load) error
	}{
		{"connections cut", o.cutOften(pg)},
		{"cut before commit", o.cutAtCommit(proxy, pgtest.BeforeCommit)},
		{"cut after commit", o.cutAtCommit(proxy, pgtest.AfterCommit)},
		{"stopped and started", o.stopAndStart(pg)},
		{"frozen", o.freeze(pg)},
	} {
		if err := o.try(fault.name, fault.do); err != nil {
			return err
		}
	}
	return nil
}

// An outage is a service whose database is made to fail.
type outage struct {
	*session
	at      func(int) string
	account account   // of the load without Idempotency-Key
	before  int64     // points charged to it by the loads before
	once    *onceLoad // nil without one
}

// newOutage starts two replicas that reach the database at url.
func (s *session) newOutage(url string) (*outage, error) {
	plain, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return nil, err
	}
	repeating, err := s.newAccount("once", unlimited, unlimited)
	if err != nil {
		return nil, err
	}
	r, err := s.startReplicas(2, "--database", url)
	if err != nil {
		return nil, err
	}
	return &outage{session: s, at: r.byClient, account: plain, once: newOnceLoad(repeating, anywhere(r.addresses()))}, nil
}

// try causes a fault under load and expects the service to recover.
func (o *outage) try(name string, fault func(*load) error) error {
	l := &load{account: o.account, clients: buyers, at: o.at, next: mixed}
	stop := o.start(l)
	defer stop()
	time.Sleep(o.span(2 * time.Second))
	if err := fault(l); err != nil {
		return err
	}
	begun := time.Now()
	if err := o.awaitService(l); err != nil {
		return err
	}
	back := time.Since(begun)
	time.Sleep(o.span(2 * time.Second))
	stop()
	o.figure("%s: serves again after %s; %s", name, round(back), &l.tally)
	o.expect(len(l.cuts)+l.refused == 0, "%s: %d requests had no response", name, len(l.cuts)+l.refused)
	o.expectWithin(l.slowest, time.Second+busy, name+": the slowest response")
	o.expectContract(&l.tally)
	return o.expectRestored(name, l)
}

// start starts the load and, if there is one, the load with Idempotency-Key.
func (o *outage) start(l *load) (stop func()) {
	stopPlain := l.start(o.ctx)
	if o.once == nil {
		return stopPlain
	}
	stopOnce := o.once.start(o.ctx)
	return func() { stopPlain(); stopOnce() }
}

// expectRestored expects the ledger to agree with the responses, after the points of
// undecided requests without Idempotency-Key were given back.
func (o *outage) expectRestored(name string, l *load) error {
	points, _ := l.charged()
	o.before += points
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if used, err := o.used(o.account); err != nil || used == o.before {
			break
		}
	}
	failures := len(o.failures)
	if err := o.expectLedger(o.account, o.before, o.before); err != nil || o.once == nil {
		return err
	}
	if err := o.expectSettled(o.once); err != nil {
		return err
	}
	if len(o.failures) > failures {
		o.figure("%s: the ledger and the responses differ after this fault", name)
	}
	return nil
}

// cutOften repeatedly closes all connections of the database.
func (o *outage) cutOften(pg *pgtest.Server) func(*load) error {
	return func(*load) error {
		for range o.times(60) {
			if err := pg.CutConnections(o.ctx); err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
		return nil
	}
}

// cutAtCommit cuts connections just before or just after a commit, so that its
// outcome is unknown to the program.
func (o *outage) cutAtCommit(proxy *pgtest.Proxy, moment pgtest.Moment) func(*load) error {
	return func(*load) error {
		cuts := int64(o.times(100))
		proxy.Cut(moment, cuts)
		deadline := time.Now().Add(o.span(20*time.Second) + 2*time.Second)
		for proxy.Left() > 0 && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		missing := proxy.Left()
		proxy.Cut(moment, 0)
		o.figure("%d connections cut at a commit:", cuts-missing)
		o.expect(missing < cuts, "no connection was cut at a commit")
		return nil
	}
}

// freeze suspends the processes of the database for a while.
func (o *outage) freeze(pg *pgtest.Server) func(*load) error {
	return func(*load) error {
		thaw, err := pg.Freeze(o.ctx)
		if err != nil {
			return err
		}
		time.Sleep(o.span(4 * time.Second))
		thaw()
		return nil
	}
}

// stopAndStart ends the database as a crash would and starts it again. Meanwhile
// clients request new domains. After the first second none is looked up.
func (o *outage) stopAndStart(pg *pgtest.Server) func(*load) error {
	return func(*load) error {
		var asks atomic.Int64
		fresh := &load{account: o.account, clients: 4, at: o.at}
		fresh.next = func(int, int) request { asks.Add(1); return single(newEmail("")) }
		pg.Stop()
		stop := fresh.start(o.ctx)
		defer stop()
		time.Sleep(time.Second + busy)
		names, before := o.dns.Names(), asks.Load()
		o.expectReady(http.StatusServiceUnavailable)
		time.Sleep(max(time.Second, o.span(3*time.Second)))
		o.figure("stopped: %d requests about new domains after the first second, %d domains looked up", asks.Load()-before, o.dns.Names()-names)
		o.expect(asks.Load() > before, "no client requested a new domain while the database was stopped")
		o.expect(o.dns.Names() == names, "%d domains were looked up while nothing could be charged", o.dns.Names()-names)
		stop()
		o.expect(fresh.responses(200) == 0, "%d responses with 200 without a database", fresh.responses(200))
		o.expectContract(&fresh.tally)
		return o.resume(pg)
	}
}

// resume starts the database and waits until both replicas are ready.
func (o *outage) resume(pg *pgtest.Server) error {
	if err := pg.Resume(); err != nil {
		return err
	}
	begun := time.Now()
	for client := range 2 {
		for o.readyz(client) != http.StatusOK {
			if time.Since(begun) > 10*time.Second {
				return fmt.Errorf("a replica is not ready 10 s after the database")
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	o.figure("ready %s after the database", round(time.Since(begun)))
	return nil
}

func (o *outage) expectReady(want int) {
	for client := range 2 {
		status := o.readyz(client)
		o.expect(status == want, "/readyz of replica %d is %d, want %d", client, status, want)
	}
}

// readyz returns the status of a replica's /readyz, or 0 without a response.
func (o *outage) readyz(client int) int {
	web := http.Client{Timeout: 3 * time.Second}
	response, err := web.Get("http://" + o.at(client) + "/readyz")
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// diskFull fills the ledger's disk under load. Requests get 503 and are not
// charged. They are served again once there is space.
func diskFull(s *session) error {
	dir := filepath.Join(s.dir, "disk")
	unmount, err := mountSmallDisk(dir)
	if err != nil {
		return skip(err.Error())
	}
	defer unmount()
	s.database = "sqlite:" + filepath.Join(dir, "addrspec.db")
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	o := &outage{session: s, account: a} // no load with Idempotency-Key
	for range s.times(4) {
		// A process that exits in order leaves no write-ahead log, so the next one
		// must allocate its own.
		p, err := s.start()
		if err != nil {
			return err
		}
		o.at = always(p.address)
		filler := filepath.Join(dir, "filler")
		if err := s.fill(filler); err != nil {
			return err
		}
		if err := o.try("full", func(l *load) error { return s.expectFull(l, filler) }); err != nil {
			return err
		}
		if err := p.Terminate(grace); err != nil {
			return err
		}
	}
	return nil
}

// mountSmallDisk mounts a disk of 16 MiB at dir. SQLite's write-ahead log grows to 4 MiB
// before it is reused.
func mountSmallDisk(dir string) (unmount func(), err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the full disk is a small one, which only root can mount, on Linux: %w: %s", err, out)
	}
	return func() { _ = exec.Command("umount", "-l", dir).Run() }, nil
}

// fill writes to the file until the disk is full.
func (s *session) fill(path string) error {
	filler, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(filler, endless{})
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk does not become full: %w", err)
	}
	return filler.Close()
}

// expectFull expects requests to be refused while the load pauses, and then frees
// the space.
func (s *session) expectFull(l *load, filler string) error {
	defer os.Remove(filler)
	return l.atRest(func() error { return s.expectRefusals(l) })
}

// expectRefusals sends requests while the load pauses. Each gets 503, and the
// account's points do not change.
func (s *session) expectRefusals(l *load) error {
	before, err := s.used(l.account)
	if err != nil {
		return err
	}
	c := &client{address: l.at(0), key: l.account.key}
	for range 5 {
		r := single("jane@mail.example")
		o := c.send(r)
		l.count(r, o)
		s.expect(o.status == 503, "on a full disk the response is %d: %s", o.status, o.body)
	}
	after, err := s.used(l.account)
	s.expect(before == after, "on a full disk %d points were charged", after-before)
	return err
}

// endless is a reader of zeros without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }
