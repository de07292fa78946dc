package main

import (
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/mx/mxtest"
)

// terminated repeatedly sends SIGTERM under load, while some batches wait for a
// silent resolver. Every request on an established connection gets a response, and
// the process exits with 0 within its grace.
func terminated(s *session) error {
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	s.dns.Respond("slow.bulk.example", mxtest.Silent)
	l := &load{account: a, clients: buyers, next: slowAndMixed}
	var ends []time.Duration
	for range s.times(20) {
		p, err := s.start()
		if err != nil {
			return err
		}
		l.at = always(p.address)
		stop := l.start(s.ctx)
		time.Sleep(s.span(time.Second))
		begun := time.Now()
		err = p.Terminate(trialTimeout)
		ends = append(ends, time.Since(begun))
		s.expectWithin(ends[len(ends)-1], grace, "the end after SIGTERM")
		stop()
		s.expect(err == nil, "SIGTERM: %v", err)
	}
	s.figure("%d times SIGTERM; the process ended after p50 %s, at most %s", len(ends), round(percentile(ends, 50)), round(percentile(ends, 100)))
	s.figure("%s", &l.tally)
	s.expect(len(l.cuts) == 0, "%d requests were cut off, such as: %v", len(l.cuts), l.firstCut())
	s.expectContract(&l.tally)
	least, most := l.charged()
	return s.expectLedger(a, least, most)
}

// slowAndMixed is mixed, with a domain that times out in some of the batches.
func slowAndMixed(client, n int) request {
	r := mixed(client, n)
	if client < 2 && r.batch {
		r.emails = append(r.emails, fmt.Sprintf("user%d@slow.bulk.example", n))
	}
	return r
}
