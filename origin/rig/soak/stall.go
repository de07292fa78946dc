package main

import (
	"database/sql"
	"errors"
	"strings"
	"time"
)

// stalls holds the database for a while under load, as a disk does that is busy with
// another program's writes. Requests wait for it, each for most of its second. Those that give
// up are few, since a client that waits sends nothing else.
func stalls(s *session) error {
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	p, err := s.start()
	if err != nil {
		return err
	}
	o := &outage{session: s, at: always(p.address), account: a}
	for _, held := range []time.Duration{300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second} {
		if err := o.stall(p, held); err != nil {
			return err
		}
	}
	return nil
}

// stalledClients is the number of clients of the load, in place of buyers.
const stalledClients = 512

func (o *outage) stall(p *process, held time.Duration) error {
	always200 := func(int, int) request { return single("jane@mail.example") }
	l := &load{account: o.account, clients: stalledClients, at: o.at, next: always200}
	stop := l.start(o.ctx)
	defer stop()
	time.Sleep(2 * time.Second)
	release, err := o.hold()
	if err != nil {
		return err
	}
	time.Sleep(held)
	if err := release(); err != nil {
		return err
	}
	begun, refusals := time.Now(), l.responses(503)
	if err := o.awaitService(l); err != nil {
		return err
	}
	back := time.Since(begun)
	time.Sleep(2 * time.Second)
	stop()
	o.figure("held for %s: %d of %d refused, %d of them afterwards; serves again after %s; peak memory %d MiB; %s",
		held, l.responses(503), l.requests, l.responses(503)-refusals, round(back), p.Memory("VmHWM")>>20, &l.tally)
	most := stalledClients * (1 + int(held/(750*time.Millisecond)))
	o.expect(l.responses(503) <= most, "%d requests were refused; %d clients that wait 0.75 s send at most %d", l.responses(503), stalledClients, most)
	o.expectWithin(l.slowest, time.Second+busy, "the slowest response")
	o.expectContract(&l.tally)
	return o.expectRestored(held.String(), l)
}

// hold lets nothing be written to the database until release is called: a transaction of
// another connection has SQLite's write lock, or PostgreSQL's processes are suspended.
func (s *session) hold() (release func() error, err error) {
	if s.kind == postgres {
		pg, err := s.postgres()
		if err != nil {
			return nil, err
		}
		thaw, err := pg.Freeze(s.ctx)
		return func() error { thaw(); return nil }, err
	}
	db, err := sql.Open("sqlite", strings.TrimPrefix(s.database, "sqlite:")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, err
	}
	tx, err := db.Conn(s.ctx)
	if err == nil {
		_, err = tx.ExecContext(s.ctx, "BEGIN IMMEDIATE")
	}
	return func() error {
		_, err := tx.ExecContext(s.ctx, "ROLLBACK")
		return errors.Join(err, db.Close())
	}, err
}
