package main

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// paced has clients send exactly at their rates with work that takes 0 to 5
// seconds: none gets a 429.
func paced(s *scene) error {
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

// A pacer sends one request every interval, whether the last is answered or
// not. It follows a schedule of absolute times, but sends no request less than
// an interval after the last one has certainly arrived: what a busy machine
// delays must not look like a client that exceeds its rate.
type pacer struct {
	*scene
	load
	rate     int
	interval time.Duration
	late     time.Duration // the most by which a request was sent after its time
}

func (s *scene) newPacer(rate int, address string) (*pacer, error) {
	a, err := s.newAccount(fmt.Sprintf("paced-%d", rate), fmt.Sprint(rate), unlimited)
	c := &pacer{scene: s, rate: rate, interval: time.Second / time.Duration(rate)}
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
		if c.rate == 1 && due.Before(arrived.Add(c.interval)) { // no token in reserve
			due = arrived.Add(c.interval)
		}
		c.late = max(c.late, arrived.Sub(due)+c.interval)
	}
}

// awaitArrival returns when the program has certainly received the request: it
// asks about the domain, or answers.
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

// slowWork takes 5 s one time in ten, and else nothing to half a second.
func slowWork(n int) request {
	wait := waits(time.Duration(n%10) * 50 * time.Millisecond)
	if n%10 == 9 {
		wait = waits(5 * time.Second)
	}
	if n%3 == 0 {
		return freshBatch(wait, 2)
	}
	return single(freshEmail(wait))
}

func (c *pacer) judge() error {
	c.figure("%d/s, sent at most %s late: %s", c.rate, round(c.late), &c.tally)
	c.expect(c.answers(200) == c.requests, "%d/s: %d of %d requests got no 200, %d of them 429", c.rate, c.requests-c.answers(200), c.requests, c.answers(429))
	c.expectContract(&c.tally)
	return c.expectBooks(c.account, c.points, c.points)
}
