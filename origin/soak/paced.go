package main

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// paced has clients send requests exactly at their rates. The work takes 0 to 5
// seconds. No client gets a 429.
func paced(s *session) error {
	s.dns.RespondAll(asNamed)
	p, err := s.start("--dns-timeout", "6s", "--batch-timeout", "8s")
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	var clients []*pacer
	for _, rate := range []int{1, 5} {
		c, err := s.newPacer(rate, p.address)
		if err != nil {
			return err
		}
		clients = append(clients, c)
		all.Go(func() { c.run(s.span(60 * time.Second)) })
	}
	all.Wait()
	for _, c := range clients {
		if err := c.judge(); err != nil {
			return err
		}
	}
	return nil
}

// A pacer sends one request every interval, whether the last one has finished or
// not. It follows a schedule of absolute times. At 1/s it also sends no request
// less than an interval after the last one has certainly arrived, so that a delay
// of a busy machine does not look like a client that exceeds its rate.
type pacer struct {
	*session
	load
	rate     int
	interval time.Duration
	late     time.Duration // the longest delay of a request after its time
}

func (s *session) newPacer(rate int, address string) (*pacer, error) {
	a, err := s.newAccount(fmt.Sprintf("paced-%d", rate), fmt.Sprint(rate), unlimited)
	c := &pacer{session: s, rate: rate, interval: time.Second / time.Duration(rate)}
	c.load = load{account: a, at: always(address)}
	return c, err
}

func (c *pacer) run(length time.Duration) {
	var under sync.WaitGroup
	defer under.Wait()
	first := time.Now()
	due := first
	for n := 0; due.Sub(first) <= max(length, 6*time.Second) && c.ctx.Err() == nil; n++ {
		time.Sleep(time.Until(due))
		r := slowWork(n)
		ended := make(chan struct{})
		under.Go(func() { c.ask(&client{key: c.account.key}, 0, r); close(ended) })
		arrived := c.awaitArrival(r, ended)
		due = first.Add(time.Duration(n+1) * c.interval)
		if c.rate == 1 && due.Before(arrived.Add(c.interval)) { // the bucket has no spare token
			due = arrived.Add(c.interval)
		}
		c.late = max(c.late, arrived.Sub(due)+c.interval)
	}
}

// awaitArrival returns the time when the program has certainly received the request:
// when it looks up the domain, or responds.
func (c *pacer) awaitArrival(r request, ended <-chan struct{}) time.Time {
	_, domain, _ := strings.Cut(r.emails[0], "@")
	for c.dns.Asked(domain) == 0 {
		select {
		case <-ended:
			return time.Now()
		case <-time.After(time.Millisecond):
		}
	}
	return time.Now()
}

// slowWork returns a request whose look-up takes 5 s one time in ten, and up to half
// a second otherwise.
func slowWork(n int) request {
	wait := waits(time.Duration(n%10) * 50 * time.Millisecond)
	if n%10 == 9 {
		wait = waits(5 * time.Second)
	}
	if n%3 == 0 {
		return newBatch(wait, 2)
	}
	return single(newEmail(wait))
}

func (c *pacer) judge() error {
	c.figure("%d/s, sent at most %s late: %s", c.rate, round(c.late), &c.tally)
	c.expect(c.responses(200) == c.requests, "%d/s: %d of %d requests got no 200, %d of them 429", c.rate, c.requests-c.responses(200), c.requests, c.responses(429))
	c.expectContract(&c.tally)
	return c.expectLedger(c.account, c.points, c.points)
}
