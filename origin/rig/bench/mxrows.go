package main

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/origin/mx"
)

// mxCallers is as many lookups as the resolver runs at a time for one account.
const mxCallers = 64

// mxRows compare lookups of new domains with plain queries. The rate of batches contains
// all else that a batch does.
func mxRows() []row {
	return []row{
		{"MX, not cached, one after another", "ns", "dns.Exchange", atMost(1.5), func(l *lab) pair {
			p := l.lookups(1).besidePeer(l.exchanges(1), 1)
			p.Ours, p.Peer = 1e9/p.Ours, 1e9/p.Peer
			return p
		}},
		{fmt.Sprintf("MX, not cached, %d callers", mxCallers), "lookups/s", "as many callers of dns.Exchange",
			atLeast(0.8),
			func(l *lab) pair { return l.lookups(mxCallers).besidePeer(l.exchanges(mxCallers), 1) }},
		{fmt.Sprintf("MX, not cached, batches of %d", batchSize), "lookups/s",
			fmt.Sprintf("%d callers of dns.Exchange", mxCallers), atLeast(0.45), func(l *lab) pair {
				s := l.sqlite()
				d := load{Address: s.address, Key: s.key, Target: batch, Body: batchBody("-#"), From: l.unused(),
					Connections: 1}
				return l.cost(d, s.PID()).besidePeer(l.exchanges(mxCallers), batchSize)
			}},
	}
}

func (l *lab) lookups(callers int) cost {
	r, err := mx.New(mx.Config{Servers: []string{l.dns().FirstLine}})
	l.check(err)
	defer r.Close()
	return l.callAll(callers, func(domain string) error { _, err := r.Lookup(l.ctx, 1, domain); return err })
}

func (l *lab) exchanges(callers int) cost {
	server := l.dns().FirstLine
	return l.callAll(callers, func(domain string) error {
		_, err := dns.Exchange(new(dns.Msg).SetQuestion(domain+".", dns.TypeMX), server)
		return err
	})
}

// callAll has callers call f for a while, with domains that no call had before.
func (l *lab) callAll(callers int, f func(domain string) error) (c cost) {
	var calls atomic.Int64
	var all errgroup.Group
	from, begun, before := l.unused(), time.Now(), processorTime(os.Getpid())
	for range callers {
		all.Go(func() (err error) {
			for time.Since(begun) < l.span/2 && err == nil {
				err = f(fmt.Sprintf("n%d.bulk.example", from+calls.Add(1)))
			}
			return err
		})
	}
	err := all.Wait()
	took, used := time.Since(begun), processorTime(os.Getpid())-before
	l.check(err)
	c.rate = float64(calls.Load()) / took.Seconds()
	c.used = microseconds(used) / float64(calls.Load())
	return c
}
