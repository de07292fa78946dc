package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"github.com/addrspec/addrspec/origin/mx"
)

// mxRows compare look-ups with another cache and with plain queries.
func mxRows() []row {
	return []row{
		{"MX, cached", "ns", "otter's get", atMost(1.3), cachedMX},
		{"MX, cached, all cores", "ns", "otter's get, all cores", atMost(2), cachedMXParallel},
		{"MX, not cached, one after another", "ns", "dns.Exchange", atMost(1.1), oneMX},
		{fmt.Sprintf("MX, not cached, %d callers", mxCallers), "look-ups/s", "as many callers of dns.Exchange", atLeast(0.9), manyMX},
		{fmt.Sprintf("MX, not cached, %d callers, and dnsperf", mxCallers), "look-ups/s", "dnsperf, queries/s", target{}, besideDNSPerf},
		{fmt.Sprintf("MX, not cached, batches of %d", batchSize), "look-ups/s", fmt.Sprintf("%d callers of dns.Exchange", mxCallers), atLeast(0.9), batchedMX},
	}
}

// mxCallers is as many look-ups as the resolver runs at a time for one account.
const mxCallers = 64

func cachedMX(ctx context.Context, l *lab) (p pair, err error) {
	c, err := l.newCachePair(ctx)
	if err != nil {
		return p, err
	}
	defer c.close()
	ours, peer := c.calls(ctx)
	return beside(l.span/2, ours, peer), nil
}

func cachedMXParallel(ctx context.Context, l *lab) (p pair, err error) {
	c, err := l.newCachePair(ctx)
	if err != nil {
		return p, err
	}
	defer c.close()
	ours, peer := c.onAllCores(ctx)
	p = beside(l.span/2, ours, peer)
	return pair{Ours: p.Ours / callsEach, Peer: p.Peer / callsEach}, nil
}

// onAllCores starts a function on each core and calls it callsEach times.
func onAllCores(start func() func()) {
	var cores sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		cores.Go(func() {
			f := start()
			for range callsEach {
				f()
			}
		})
	}
	cores.Wait()
}

// resolver returns a resolver with an empty cache, and the address of its server.
func (l *lab) resolver() (*mx.Resolver, string, error) {
	server, err := l.dns()
	if err != nil {
		return nil, "", err
	}
	r, err := mx.New(mx.Config{Servers: []string{server.FirstLine}})
	return r, server.FirstLine, err
}

func oneMX(ctx context.Context, l *lab) (pair, error) {
	p, err := l.uncached(ctx, 1)
	p.Ours, p.Peer = 1e9/p.Ours, 1e9/p.Peer
	return p, err
}

func manyMX(ctx context.Context, l *lab) (pair, error) { return l.uncached(ctx, mxCallers) }

// uncached compares the rate of look-ups of new domains by some callers with that of
// plain queries.
func (l *lab) uncached(ctx context.Context, callers int) (p pair, err error) {
	r, _, err := l.resolver()
	if err != nil {
		return p, err
	}
	defer r.Close()
	ours, err := l.callAll(callers, func(domain string) error { _, err := r.Lookup(ctx, 1, domain); return err })
	if err != nil {
		return p, err
	}
	peer, err := l.exchanges(callers)
	return ours.besidePeer(peer, 1), err
}

// exchanges is the cost of plain queries by some callers.
func (l *lab) exchanges(callers int) (cost, error) {
	server, err := l.dns()
	if err != nil {
		return cost{}, err
	}
	return l.callAll(callers, func(domain string) error {
		_, err := dns.Exchange(new(dns.Msg).SetQuestion(domain+".", dns.TypeMX), server.FirstLine)
		return err
	})
}

// batchedMX has the service look up the domains of batches on one connection, of one
// account. Its rate contains all else that a batch does.
func batchedMX(ctx context.Context, l *lab) (p pair, err error) {
	s, err := l.sqlite()
	if err != nil {
		return p, err
	}
	d := load{url: s.url + batch, keys: []string{s.key}, body: batchBody(batchSize, "-#"), from: l.unused(), connections: 1}
	c, err := l.cost(ctx, d, s.PID())
	if err != nil {
		return p, err
	}
	peer, err := l.exchanges(mxCallers)
	return c.besidePeer(peer, batchSize), err
}

// callAll has callers call f with domains that no call had before.
func (l *lab) callAll(callers int, f func(domain string) error) (c cost, err error) {
	var calls atomic.Int64
	var failure atomic.Pointer[error]
	var all sync.WaitGroup
	begun, before, from := time.Now(), processorTime(os.Getpid()), l.unused()
	for range callers {
		all.Go(func() {
			for time.Since(begun) < l.span/2 && failure.Load() == nil {
				if err := f(fmt.Sprintf("n%d.bulk.example", from+calls.Add(1))); err != nil {
					failure.Store(&err)
				}
			}
		})
	}
	all.Wait()
	if err := failure.Load(); err != nil {
		return c, *err
	}
	c.rate = float64(calls.Load()) / time.Since(begun).Seconds()
	c.used = perUnit(processorTime(os.Getpid())-before, float64(calls.Load()))
	return c, nil
}
