package main

import (
	"time"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
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
