package main

import (
	"fmt"
	"time"
)

// twoReplicas and threeReplicas share one database: they sell a balance to the
// point, and are one token bucket.
func twoReplicas(s *scene) error   { return s.replicas(2) }
func threeReplicas(s *scene) error { return s.replicas(3) }

const buyers = 16

func (s *scene) replicas(count int) error {
	addresses, err := s.startReplicas(count)
	if err != nil {
		return err
	}
	if err := s.sellOut(addresses); err != nil {
		return err
	}
	return s.shareRate(addresses)
}

func (s *scene) startReplicas(count int) (at func(client int) string, err error) {
	var list []string
	for range count {
		p, err := s.start()
		if err != nil {
			return nil, err
		}
		list = append(list, p.address)
	}
	return func(client int) string { return list[client%count] }, nil
}

// sellOut has all buyers buy batches, and single points once no batch is to be
// had, until nothing is.
func (s *scene) sellOut(at func(int) string) error {
	balance := int64(s.times(5000))
	a, err := s.newAccount("balance", unlimited, fmt.Sprint(balance))
	if err != nil {
		return err
	}
	poor := make([]bool, buyers) // too poor for a batch
	l := &load{account: a, clients: buyers, at: at}
	l.next = func(client, n int) request {
		if poor[client] {
			return single(fmt.Sprintf("user%d@d%d.bulk.example", n, n%domains))
		}
		return batchOf(1+(client+n)%9, client*1_000_000+n)
	}
	l.finished = func(client int, r request, o outcome) bool {
		poor[client] = poor[client] || o.status == 402
		return o.status == 200 || o.status == 402
	}
	l.runOut(s.ctx)
	least, most := l.charged()
	s.expect(least == balance && most == balance, "%d points were sold (%d in doubt) of %d", least, most-least, balance)
	s.expect(l.answers(429) == buyers, "%d of %d buyers were told that all is sold", l.answers(429), buyers)
	s.expectContract(&l.tally)
	s.figure("balance of %d, %d clients: %s", balance, buyers, &l.tally)
	return s.expectBooks(a, balance, balance)
}

// shareRate has all clients ask for more than the account's rate. In the time
// from the first request to the last answer the bucket gives its capacity,
// one second's tokens, and a token for each 1/rate.
func (s *scene) shareRate(at func(int) string) error {
	const rate = 40
	a, err := s.newAccount("rate", fmt.Sprint(rate), unlimited)
	if err != nil {
		return err
	}
	l := &load{account: a, clients: buyers, at: at}
	l.next = func(client, n int) request { return single(fmt.Sprintf("user%d@d%d.bulk.example", n, n%domains)) }
	l.finished = func(int, request, outcome) bool { time.Sleep(time.Millisecond); return true }
	begun := time.Now()
	stop := l.start(s.ctx)
	time.Sleep(s.span(8 * time.Second))
	stop()
	took := time.Since(begun)
	let, tokens := float64(l.answers(200)), rate*took.Seconds()
	s.figure("rate of %d/s for %s: %.0f let in, %d turned away; the bucket gave %.0f to %.0f", rate, round(took), let, l.answers(429), tokens, tokens+rate)
	s.expect(let <= tokens+rate+1, "%.0f were let in, at most %.0f should be", let, tokens+rate)
	s.expect(let >= tokens-rate, "%.0f were let in, at least %.0f should be", let, tokens-rate)
	s.expectContract(&l.tally)
	return s.expectBooks(a, int64(let), int64(let))
}
