package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// neighbours has accounts, first one and then five together, flood the service with
// domains about which the resolver never replies. Another account's requests about
// new domains are served as usual.
func neighbours(s *session) error {
	s.dns.RespondAll(asNamed)
	p, err := s.start("--dns-timeout", "5s", "--batch-timeout", "10s")
	if err != nil {
		return err
	}
	for _, greedy := range []int{1, 5} {
		if err := s.neighbourOf(greedy, p.address); err != nil {
			return err
		}
	}
	return nil
}

// usualWait is the longest median time of requests that need a look-up.
const usualWait = 60 * time.Millisecond

func (s *session) neighbourOf(greedy int, address string) error {
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	var floods []*load
	for n := range greedy {
		flood, err := s.newFlood(fmt.Sprintf("greedy-%d-of-%d", n+1, greedy), address)
		if err != nil {
			return err
		}
		defer flood.start(ctx)()
		floods = append(floods, flood)
	}
	s.awaitFlood()
	honest, err := s.newHonest(fmt.Sprintf("honest-%d", greedy), address)
	if err != nil {
		return err
	}
	honest.runOut(ctx)
	return s.judgeNeighbour(honest, floods)
}

// newFlood returns a load of more look-ups at once than one account may have
// waiting. A client that gets 429 waits as long as Retry-After requires.
func (s *session) newFlood(name, address string) (*load, error) {
	a, err := s.newAccount(name, unlimited, unlimited)
	l := &load{account: a, clients: 24, at: always(address)}
	l.next = func(int, int) request { return newBatch(silent, 64) }
	l.finished = func(_ int, _ request, o outcome) bool {
		if o.status == http.StatusTooManyRequests {
			waitRetryAfter(&o)
		}
		return true
	}
	return l, err
}

// waitRetryAfter waits for the seconds of Retry-After, and for at least 100 ms, so
// that a response without the header does not saturate the processor.
func waitRetryAfter(o *outcome) {
	seconds, _ := strconv.Atoi(o.header.Get("Retry-After"))
	time.Sleep(max(time.Duration(seconds)*time.Second, 100*time.Millisecond))
}

// awaitFlood returns once no further domain is looked up: the floods then have all
// the look-ups that they can get.
func (s *session) awaitFlood() {
	const quiet, limit = 500 * time.Millisecond, 10 * time.Second
	for begun, last := time.Now(), -1; s.dns.Names() != last && time.Since(begun) < limit; time.Sleep(quiet) {
		last = s.dns.Names()
	}
}

// newHonest returns a load that requests new domains one after another.
func (s *session) newHonest(name, address string) (*load, error) {
	a, err := s.newAccount(name, unlimited, unlimited)
	l := &load{account: a, clients: 1, at: always(address)}
	l.next = func(int, int) request { return single(newEmail("")) }
	begun, length := time.Now(), s.span(10*time.Second)
	l.finished = func(int, request, outcome) bool { return time.Since(begun) < length }
	return l, err
}

func (s *session) judgeNeighbour(honest *load, floods []*load) error {
	what := fmt.Sprintf("beside %d flooding accounts", len(floods))
	s.figure("%s: %s", what, &honest.tally)
	s.figure("one of them: %s", &floods[0].tally)
	s.expect(honest.responses(http.StatusOK) == honest.requests, "%s %d of %d requests got no 200",
		what, honest.requests-honest.responses(http.StatusOK), honest.requests)
	s.expectWithin(percentile(honest.times(), 50), usualWait, what+" the median request")
	for _, l := range append(floods, honest) {
		s.expectContract(&l.tally)
	}
	return s.expectLedger(honest.account, honest.points, honest.points)
}
