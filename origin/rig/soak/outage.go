package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// The trials of databases: they are cut off, stopped, held, and their disk is full.

// interrupt causes a fault under load and expects the service to recover, every request to get a
// response in time, and the ledger to agree with the responses. batches may be nil.
func (s *session) interrupt(name string, l, batches *load, fault func()) {
	loads, accounts := []*load{l}, []*account{l.account}
	if batches != nil {
		loads, accounts = append(loads, batches), append(accounts, batches.account)
	}
	stop := start(s.ctx, loads...)
	defer stop()
	time.Sleep(s.span(2 * time.Second))
	fault()
	during := l.responses(503)
	back := s.awaitService(l)
	time.Sleep(s.span(2 * time.Second))
	stop()
	s.figure("%s: serves again after %s; refused %d during it, %d afterwards; %s", name, round(back), during,
		l.responses(503)-during, l)
	s.expect(len(l.cuts)+l.refused == 0, "%s: %d requests had no response", name, len(l.cuts)+l.refused)
	s.expectWithin(l.slowest, time.Second+busy, name+": the slowest response")
	if batches != nil {
		s.settle(batches)
	}
	failures := len(s.failures)
	s.awaitGivenBack(l.account)
	s.expectLedger(accounts...)
	if len(s.failures) > failures {
		s.figure("%s: the ledger and the responses differ after this fault", name)
	}
}

// awaitGivenBack waits until the ledger has given back the points of requests whose outcome was
// unknown to the program.
func (s *session) awaitGivenBack(a *account) {
	_, most := a.charged()
	for deadline := time.Now().Add(3 * time.Second); s.used(a) > most && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
	}
}

// interrupted interrupts PostgreSQL in several ways, under load on two replicas.
// Meanwhile requests get 503 in shape A within a second. The service recovers by
// itself, and the ledger agrees exactly with the responses.
func interrupted(s *session) {
	pg := s.server()
	proxy, err := pg.Proxy()
	s.check(err)
	defer proxy.Close()
	plain, repeating := s.newAccount("plain", unlimited), s.newAccount("once", unlimited)
	at := s.replicas(2, "--database", proxy.URL(s.database))
	batches := repeating.batches(at)
	for _, fault := range []struct {
		name string
		do   func()
	}{
		{"connections cut", func() {
			for range s.times(60) {
				s.check(pg.CutConnections(s.ctx))
				time.Sleep(20 * time.Millisecond)
			}
		}},
		{"cut before commit", func() { s.cutAtCommit(proxy, pgtest.BeforeCommit) }},
		{"cut after commit", func() { s.cutAtCommit(proxy, pgtest.AfterCommit) }},
		{"stopped and started", func() { s.stopAndStart(pg, plain, at) }},
		{"frozen", func() {
			thaw, err := pg.Freeze(s.ctx)
			s.check(err)
			time.Sleep(s.span(4 * time.Second))
			thaw()
		}},
	} {
		s.interrupt(fault.name, plain.load(16, at, mixed), batches, fault.do)
	}
}

// cutAtCommit cuts connections just before or just after a commit, so that its
// outcome is unknown to the program.
func (s *session) cutAtCommit(proxy *pgtest.Proxy, moment pgtest.Moment) {
	cuts := int64(s.times(100))
	proxy.Cut(moment, cuts)
	deadline := time.Now().Add(s.span(20*time.Second) + 2*time.Second)
	for proxy.Left() > 0 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	missing := proxy.Left()
	proxy.Cut(moment, 0)
	s.figure("%d connections cut at a commit:", cuts-missing)
	s.expect(missing < cuts, "no connection was cut at a commit")
}

// stopAndStart ends the database as a crash would and starts it again. Meanwhile
// clients request new domains. After the first second none is looked up.
func (s *session) stopAndStart(pg *pgtest.Server, a *account, at func(client int) string) {
	fresh := a.load(4, at, func(int, int) request { return single(newEmail("")) })
	pg.Stop()
	stop := start(s.ctx, fresh)
	defer stop()
	time.Sleep(time.Second + busy)
	names, before := s.dns.Names(), fresh.responses(503)
	for replica := range 2 {
		s.expect(readyz(at(replica)) == http.StatusServiceUnavailable, "/readyz of replica %d is not 503", replica)
	}
	time.Sleep(max(time.Second, s.span(3*time.Second)))
	stop()
	asked := fresh.responses(503) - before
	s.figure("stopped: %d requests about new domains after the first second, %d domains looked up", asked,
		s.dns.Names()-names)
	s.expect(asked > 0, "no client requested a new domain while the database was stopped")
	s.expect(s.dns.Names() == names, "%d domains were looked up while nothing could be charged", s.dns.Names()-names)
	s.expect(fresh.responses(200) == 0, "%d responses with 200 without a database", fresh.responses(200))
	s.check(pg.Resume())
	begun := time.Now()
	for replica := range 2 {
		for readyz(at(replica)) != http.StatusOK {
			if time.Since(begun) > 10*time.Second {
				s.check(fmt.Errorf("replica %d is not ready 10 s after the database", replica))
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	s.figure("ready %s after the database", round(time.Since(begun)))
}

// readyz returns the status of a replica's /readyz, or 0 without a response.
func readyz(address string) int {
	web := http.Client{Timeout: 3 * time.Second}
	response, err := web.Get("http://" + address + "/readyz")
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// stalled holds the database for a while under load, as a disk does that is busy with
// another program's writes. Requests wait for it, each for most of its second. Those that give
// up are few, since a client that waits sends nothing else.
func stalled(s *session) {
	const clients = 512
	a, p := s.newAccount("plain", unlimited), s.start()
	for _, held := range []time.Duration{300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second} {
		l := a.load(clients, always(p.address), func(int, int) request { return single("jane@mail.example") })
		s.interrupt("held for "+held.String(), l, nil, func() {
			release := s.hold()
			time.Sleep(held)
			s.check(release())
		})
		s.figure("peak memory %d MiB", p.Memory("VmHWM")>>20)
		most := clients * (1 + int(held/(750*time.Millisecond)))
		s.expect(l.responses(503) <= most, "%d requests were refused; %d clients that wait 0.75 s send at most %d",
			l.responses(503), clients, most)
	}
}

// hold lets nothing be written to the database until release is called: a transaction of
// another connection has SQLite's write lock, or PostgreSQL's processes are suspended.
func (s *session) hold() (release func() error) {
	if s.kind == postgres {
		thaw, err := s.server().Freeze(s.ctx)
		s.check(err)
		return func() error { thaw(); return nil }
	}
	db, err := sql.Open("sqlite", strings.TrimPrefix(s.database, "sqlite:")+"?_pragma=busy_timeout(10000)")
	s.check(err)
	conn, err := db.Conn(s.ctx)
	s.check(err)
	_, err = conn.ExecContext(s.ctx, "BEGIN IMMEDIATE")
	s.check(err)
	return func() error {
		_, err := conn.ExecContext(s.ctx, "ROLLBACK")
		return errors.Join(err, db.Close())
	}
}

// diskSize is the size of a small disk. The ledger of the longest trial needs half of it.
const diskSize = 128 << 20

// smallDisk puts the trial's database on a disk of its own.
func (s *session) smallDisk() (dir string, unmount func()) {
	dir = filepath.Join(s.dir, "disk")
	s.check(os.Mkdir(dir, 0o700))
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprint("size=", diskSize), "tmpfs", dir).CombinedOutput()
	if err != nil {
		s.check(fmt.Errorf("%w: only root can mount a small disk, on Linux: %w: %s", errSkipped, err, out))
	}
	s.database = "sqlite:" + filepath.Join(dir, "addrspec.db")
	return dir, func() { _ = exec.Command("umount", "-l", dir).Run() }
}

// fill has a disk full until empty is called.
func (s *session) fill(dir string) (empty func()) {
	filler := filepath.Join(dir, "filler")
	err := os.WriteFile(filler, make([]byte, diskSize), 0o600)
	if !errors.Is(err, syscall.ENOSPC) {
		s.check(fmt.Errorf("the disk does not become full: %w", err))
	}
	return func() { s.check(os.Remove(filler)) }
}

// diskFull fills the ledger's disk under load. Requests get 503 and are not
// charged. They are served again once there is space.
func diskFull(s *session) {
	dir, unmount := s.smallDisk()
	defer unmount()
	a := s.newAccount("plain", unlimited)
	for range s.times(4) {
		// A process that exits in order leaves no write-ahead log, so the next one
		// must allocate its own.
		p := s.start()
		empty := s.fill(dir)
		l := a.load(16, always(p.address), mixed)
		s.interrupt("full", l, nil, func() {
			s.expectRefusals(l)
			empty()
		})
		s.check(p.Terminate(grace))
	}
}

// expectRefusals pauses a load and sends requests. Each gets 503, and the account's points do not
// change.
func (s *session) expectRefusals(l *load) {
	l.gate.Lock()
	defer l.gate.Unlock()
	before := s.used(l.account)
	c := &client{address: l.at(0), key: l.account.key}
	for range 5 {
		o := l.send(c, -1, single("jane@mail.example"))
		s.expect(o.status == 503, "on a full disk the response is %d: %s", o.status, o.body)
	}
	s.expect(s.used(l.account) == before, "on a full disk %d points were charged", s.used(l.account)-before)
}
