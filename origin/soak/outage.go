package main

import (
	"time"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// outages takes PostgreSQL away in several ways, under load, on two replicas.
// Requests are answered meanwhile with 503 in shape A within a second; the
// service recovers by itself; the ledger agrees with the answers exactly.
func outages(s *scene) error {
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

// An outage is faults of the database under one service.
type outage struct {
	*scene
	at      func(int) string
	account account   // of the load without Idempotency-Key
	before  int64     // points charged to it by the loads before
	once    *onceLoad // nil without one
}

// newOutage starts two replicas that reach the database at url.
func (s *scene) newOutage(url string) (*outage, error) {
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
	return &outage{scene: s, at: r.byClient, account: plain, once: newOnceLoad(repeating, anywhere(r.addresses()))}, nil
}

// try puts load on the service, does the fault and expects it to recover.
func (o *outage) try(name string, fault func(*load) error) error {
	l := &load{account: o.account, clients: buyers, at: o.at, next: mixed}
	stop := o.start(l)
	defer stop()
	time.Sleep(o.span(2 * time.Second))
	if err := fault(l); err != nil {
		return err
	}
	begun := time.Now()
	if err := o.awaitAnswer(l); err != nil {
		return err
	}
	back := time.Since(begun)
	time.Sleep(o.span(2 * time.Second))
	stop()
	o.figure("%s: answers again after %s; %s", name, round(back), &l.tally)
	o.expect(len(l.cuts)+l.refused == 0, "%s: %d requests had no answer", name, len(l.cuts)+l.refused)
	o.expectWithin(l.slowest, time.Second+busy, name+": the slowest answer")
	o.expectContract(&l.tally)
	return o.books(name, l)
}

// start starts the load, and the one with Idempotency-Key where there is one.
func (o *outage) start(l *load) (stop func()) {
	stopPlain := l.start(o.ctx)
	if o.once == nil {
		return stopPlain
	}
	stopOnce := o.once.start(o.ctx)
	return func() { stopPlain(); stopOnce() }
}

// books compares the answers with the ledger, after the points of undecided
// requests without Idempotency-Key were given back.
func (o *outage) books(name string, l *load) error {
	points, _ := l.charged()
	o.before += points
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if used, err := o.used(o.account); err != nil || used == o.before {
			break
		}
	}
	failures := len(o.failures)
	if err := o.expectBooks(o.account, o.before, o.before); err != nil || o.once == nil {
		return err
	}
	if err := o.expectSettled(o.once); err != nil {
		return err
	}
	if len(o.failures) > failures {
		o.figure("%s: the books do not balance after this fault", name)
	}
	return nil
}
