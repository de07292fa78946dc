package main

import (
	"sync/atomic"
	"time"
)

// bounded shows that one account cannot have more work done than it may: not
// by asking for the same points many times at once, nor by hanging up.
func bounded(s *scene) error {
	s.dns.RespondAll(asNamed)
	if err := s.manyBatches(); err != nil {
		return err
	}
	return s.unpaidWork()
}

// manyBatches sends many batches at once, each of which costs all the points of
// the account: one works, the others are refused before their look-ups.
func (s *scene) manyBatches() error {
	const size = 64
	a, err := s.newAccount("poor", unlimited, "64")
	if err != nil {
		return err
	}
	p, err := s.start()
	if err != nil {
		return err
	}
	count := s.times(1000)
	l := &load{account: a, clients: count, at: always(p.address)}
	l.next = func(int, int) request { return freshBatch(waits(500*time.Millisecond), size) }
	l.finished = func(int, request, outcome) bool { return false }
	names := s.dns.Names()
	l.runOut(s.ctx)
	asked := s.dns.Names() - names
	s.figure("%d batches of %d at once for %d points: %d domains asked about; %s", count, size, size, asked, &l.tally)
	s.expect(l.answers(200) == 1, "%d batches were answered, one should be", l.answers(200))
	s.expect(l.answers(402)+l.answers(429) == count-1, "%d batches were refused with 402 or 429 of %d", l.answers(402)+l.answers(429), count-1)
	s.expect(asked <= size, "%d domains were asked about for %d points", asked, size)
	s.expectContract(&l.tally)
	p.Kill()
	return s.expectBooks(a, size, size)
}

// Unpaid work that an account may cause on a replica, in addresses: a bucket
// of so many, refilled at so many a second.
const (
	unpaidBurst = 1024
	unpaidRate  = 64
)

// unpaidWork has clients of an unlimited account send requests about fresh
// domains that no resolver answers, and hang up.
func (s *scene) unpaidWork() error {
	a, err := s.newAccount("unlimited", unlimited, unlimited)
	if err != nil {
		return err
	}
	p, err := s.start()
	if err != nil {
		return err
	}
	var sent atomic.Int64
	l := &load{account: a, clients: 64, at: always(p.address), next: waiting, patience: whileWaiting}
	l.finished = func(int, request, outcome) bool { return sent.Add(1) < int64(s.times(10_000)) }
	names, begun := s.dns.Names(), time.Now()
	l.runOut(s.ctx)
	s.judgeUnpaid(l, s.dns.Names()-names, time.Since(begun))
	p.Kill()
	return s.expectBooks(a, 0, 0)
}

// judgeUnpaid allows for the requests that were under way when the bucket
// became empty.
func (s *scene) judgeUnpaid(l *load, asked int, took time.Duration) {
	most := unpaidBurst + int(unpaidRate*took.Seconds()) + l.clients*mostWaiting
	s.figure("hung up for %s: %d domains asked about, at most %d may be; %s", round(took), asked, most, &l.tally)
	s.expect(asked <= most, "%d domains were asked about in %s, at most %d may be", asked, round(took), most)
	if wanted := int(l.doubtful); wanted > most {
		s.expect(l.answers(429) > 0, "no 429, although clients hung up on %d addresses", wanted)
	}
	s.expectContract(&l.tally)
}
