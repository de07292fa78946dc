package main

import "time"

// outages takes PostgreSQL away in several ways, under load, on two replicas.
// What was asked meanwhile is answered with 503 in shape A within a second;
// the service recovers by itself; nothing is lost or doubled.
func outages(s *scene) error {
	pg, err := s.postgres()
	if err != nil {
		return err
	}
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	at, err := s.startReplicas(2)
	if err != nil {
		return err
	}
	o := &outage{scene: s, at: at, account: a}
	cutOften := func(*load) error {
		for range s.times(60) {
			if err := pg.CutConnections(s.ctx); err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
		return nil
	}
	stopAndStart := func(*load) error {
		pg.Stop()
		time.Sleep(s.span(3 * time.Second))
		return pg.Resume()
	}
	freeze := func(*load) error {
		thaw, err := pg.Freeze(s.ctx)
		if err != nil {
			return err
		}
		time.Sleep(s.span(4 * time.Second))
		thaw()
		return nil
	}
	for _, fault := range []struct {
		name string
		do   func(*load) error
	}{{"connections cut", cutOften}, {"stopped and started", stopAndStart}, {"frozen", freeze}} {
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
	account account
	before  int64 // points charged by the loads before
}

// try puts load on the service, does the fault and expects it to recover.
func (o *outage) try(name string, fault func(*load) error) error {
	l := &load{account: o.account, clients: buyers, at: o.at, next: mixed}
	stop := l.start(o.ctx)
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
	return o.books(l)
}

// busy is what an answer may be late on a machine whose processors are taken.
const busy = 250 * time.Millisecond

// books compares what was answered with the ledger, once what is owed has been
// given back, which the service tries four times a second.
func (o *outage) books(l *load) error {
	points, _ := l.charged()
	o.before += points
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if used, err := o.used(o.account); err != nil || used == o.before {
			break
		}
	}
	return o.expectBooks(o.account, o.before, o.before)
}
