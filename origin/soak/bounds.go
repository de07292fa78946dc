package main

import (
	"sync/atomic"
	"time"
)

// bounded shows that one account cannot cause more work than it may, neither by
// claiming the same points many times at once nor by hanging up.
func bounded(s *session) error {
	s.dns.RespondAll(asNamed)
	if err := s.manyBatches(); err != nil {
		return err
	}
	return s.unpaidWork()
}

// manyBatches sends many batches at once, each of which costs all points of the
// account. One is served. The others are refused before their look-ups.
func (s *session) manyBatches() error {
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
	l.next = func(int, int) request { return newBatch(waits(500*time.Millisecond), size) }
	l.finished = func(int, request, outcome) bool { return false }
	names := s.dns.Names()
	l.runOut(s.ctx)
	asked := s.dns.Names() - names
	s.figure("%d batches of %d at once for %d points: %d domains looked up; %s", count, size, size, asked, &l.tally)
	s.expect(l.responses(200) == 1, "%d batches were served, want one", l.responses(200))
	s.expect(l.responses(402)+l.responses(429) == count-1, "%d batches were refused with 402 or 429, want %d", l.responses(402)+l.responses(429), count-1)
	s.expect(asked <= size, "%d domains were looked up for %d points", asked, size)
	s.expectContract(&l.tally)
	p.Kill()
	return s.expectLedger(a, size, size)
}

// The unpaid work that an account may cause on a replica, in addresses: the
// capacity of a token bucket and its rate a second.
const (
	unpaidBurst = 1024
	unpaidRate  = 64
)

// unpaidWork has clients of an unlimited account request new domains about which
// the resolver never replies, and hang up.
func (s *session) unpaidWork() error {
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
	return s.expectLedger(a, 0, 0)
}

// judgeUnpaid checks the number of domains looked up. It allows for requests that
// were under way when the bucket became empty.
func (s *session) judgeUnpaid(l *load, asked int, took time.Duration) {
	most := unpaidBurst + int(unpaidRate*took.Seconds()) + l.clients*mostWaiting
	s.figure("hung up for %s: %d domains looked up, at most %d allowed; %s", round(took), asked, most, &l.tally)
	s.expect(asked <= most, "%d domains were looked up in %s, at most %d are allowed", asked, round(took), most)
	if wanted := int(l.doubtful); wanted > most {
		s.expect(l.responses(429) > 0, "no 429, although clients hung up on %d addresses", wanted)
	}
	s.expectContract(&l.tally)
}
