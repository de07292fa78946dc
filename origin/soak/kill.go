package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// killed kills the program under load, again and again. After each kill the
// ledger must hold what was answered, and no more than that and what was under
// way. Batches with an Idempotency-Key are sent until they are answered; each
// must be charged once.
func killed(s *scene) error {
	l, o, p, err := s.killScene()
	if err != nil {
		return err
	}
	stopLoad, stopOnce := l.start(s.ctx), o.start(s.ctx)
	defer stopLoad()
	defer stopOnce()
	var back []time.Duration
	for range s.times(50) {
		time.Sleep(time.Duration(50+rand.IntN(150)) * time.Millisecond)
		p.kill()
		begun := time.Now()
		if p, err = s.startAt(p.address); err == nil {
			err = s.awaitAnswer(l)
		}
		back = append(back, time.Since(begun))
		if err == nil {
			err = s.expectBooksOf(l, o)
		}
		if err != nil {
			return err
		}
	}
	stopLoad()
	stopOnce()
	used, err := s.used(l.account)
	if err != nil {
		return err
	}
	s.tellKills(l, o, back, used)
	return s.settleOnce(o)
}

// killScene is a process with a load of either kind.
func (s *scene) killScene() (l *load, o *onceLoad, p *process, err error) {
	plain, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return nil, nil, nil, err
	}
	repeating, err := s.newAccount("once", unlimited, unlimited)
	if err != nil {
		return nil, nil, nil, err
	}
	if p, err = s.start(); err != nil {
		return nil, nil, nil, err
	}
	l = &load{account: plain, clients: 8, at: always(p.address), next: mixed}
	return l, newOnceLoad(repeating, p.address), p, nil
}

// awaitAnswer asks until an answer of 200 comes.
func (s *scene) awaitAnswer(l *load) error {
	c := &client{address: l.at(0), key: l.account.key}
	r := single("probe@mail.example")
	for deadline := time.Now().Add(exchangeLimit); ; time.Sleep(refusedPause) {
		o := c.send(r)
		l.count(r, o)
		if o.status == 200 {
			return nil
		}
		if time.Now().After(deadline) || s.ctx.Err() != nil {
			return fmt.Errorf("no answer of 200 after %s; the last is %d: %s", exchangeLimit, o.status, o.body)
		}
	}
}

// expectBooksOf reads the ledger of both loads while they rest.
func (s *scene) expectBooksOf(l *load, o *onceLoad) error {
	return l.atRest(func() error {
		return o.atRest(func() error {
			least, most := l.charged()
			if err := s.expectBooks(l.account, least, most); err != nil {
				return err
			}
			least, most = o.charged()
			return s.expectBooks(o.account, least, most)
		})
	})
}

func (s *scene) tellKills(l *load, o *onceLoad, back []time.Duration, used int64) {
	least, most := l.charged()
	s.figure("%d kills; answers again after p50 %s, at most %s", len(back), round(percentile(back, 50)), round(percentile(back, 100)))
	s.figure("plain: %s", &l.tally)
	s.figure("plain: %d points answered <= %d in the ledger <= %d with what was under way at the kills", least, used, most)
	s.figure("repeated with Idempotency-Key: %s", &o.tally)
	s.expectWithin(percentile(back, 100), time.Second, "to serve again")
	s.expectContract(&l.tally)
	s.expectContract(&o.tally)
}

// settleOnce waits until the leases of attempts that died have lapsed, which
// takes a minute; a short run leaves that out.
func (s *scene) settleOnce(o *onceLoad) error {
	if s.seconds < fullLength/2 {
		s.figure("repeated: %d batches wait for the lease of an attempt that died (a longer run waits for it)", len(o.put))
		return nil
	}
	waited := len(o.put)
	if err := o.settle(90 * time.Second); err != nil {
		return err
	}
	points, _ := o.charged()
	s.figure("repeated: %d batches waited for the lease of an attempt that died; then %d points answered = ledger", waited, points)
	return s.expectBooks(o.account, points, points)
}
