package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// idlers keeps connections without a key open up to --max-connections, and reopens
// each one that the service closes. New connections are served all the same. While
// further clients open connections as fast as they can, no request already under
// way is cut.
func idlers(s *session) error {
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	s.dns.RespondAll(asNamed)
	p, err := s.start("--max-connections", fmt.Sprint(fewConnections), "--dns-timeout", "5s")
	if err != nil {
		return err
	}
	if err := s.newConnections(p, a); err != nil {
		return err
	}
	return s.rushed(p, a)
}

const fewConnections = 200

// newConnections sends singles, each on a new connection, beside idle ones.
func (s *session) newConnections(p *process, a account) error {
	c := &crowd{address: p.address}
	closeAll := c.connect(s.ctx, fewConnections)
	defer closeAll()
	opened := c.await(fewConnections, 20*time.Second)
	l := &load{account: a, clients: 1, at: always(p.address)}
	l.next = func(_, n int) request { return usual(n) }
	var asked atomic.Int64
	count := int64(s.times(1000))
	l.finished = func(int, request, outcome) bool { return asked.Add(1) < count }
	l.reconnect = true
	l.runOut(s.ctx)
	s.figure("%d idle and slow connections of %d; requests on new connections: %s", opened, fewConnections, &l.tally)
	s.expect(opened == fewConnections, "only %d connections could be opened", opened)
	s.expect(l.responses(200) == int(count), "%d of %d requests on new connections were served", l.responses(200), count)
	s.expectWithin(percentile(l.times(), 99), 100*time.Millisecond, "the p99 of requests on new connections")
	s.expectContract(&l.tally)
	return nil
}

// rushed has requests wait for the resolver while rush opens connections.
func (s *session) rushed(p *process, a account) error {
	const waiting = fewConnections / 2
	l := &load{account: a, clients: waiting, at: always(p.address)}
	l.next = func(int, int) request { return single(newEmail(waits(2 * time.Second))) }
	l.finished = func(int, request, outcome) bool { return false }
	names := s.dns.Names()
	ended := make(chan struct{})
	go func() { l.runOut(s.ctx); close(ended) }()
	for deadline := time.Now().Add(20 * time.Second); s.dns.Names()-names < waiting && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	opened := rush(ended, p.address)
	s.figure("%d connections opened while %d requests were under way: %s", opened, waiting, &l.tally)
	s.expect(opened > fewConnections, "only %d connections were opened meanwhile", opened)
	s.expect(l.responses(200) == waiting, "%d of %d requests under way were served: %v", l.responses(200), waiting, l.firstCut())
	return nil
}

// rush opens connections as fast as it can until ended is closed, and returns how
// many.
func rush(ended <-chan struct{}, address string) (opened int64) {
	var count atomic.Int64
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				conn, err := net.DialTimeout("tcp", address, time.Second)
				if err != nil {
					continue
				}
				count.Add(1)
				io.WriteString(conn, "GET /healthz HTTP/1.1\r\nX-Slow: ")
				time.AfterFunc(100*time.Millisecond, func() { conn.Close() })
			}
		})
	}
	<-ended
	cancel()
	all.Wait()
	return count.Load()
}
