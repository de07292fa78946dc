package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/miekg/dns"

	"github.com/addrspec/addrspec/origin/mx"
)

// mxRows compare look-ups with the cache's library and with plain queries.
func mxRows() []row {
	return []row{
		{"MX, cached", "ns", "otter's get", atMost(1.3), cachedMX},
		{"MX, cached, all cores", "ns", "otter's get, all cores", atMost(2), cachedMXParallel},
		{"MX, not cached, one after another", "ns", "dns.Exchange", atMost(1.1), oneMX},
		{fmt.Sprintf("MX, not cached, %d callers", mxCallers), "look-ups/s", "as many callers of dns.Exchange", atLeast(0.9), manyMX},
		{fmt.Sprintf("MX, not cached, batches of %d", batchSize), "look-ups/s", fmt.Sprintf("%d callers of dns.Exchange", mxCallers), atLeast(0.9), batchedMX},
	}
}

const (
	mxCallers = 64 // as many look-ups as the resolver runs at a time for one account
	mxNames   = 1 << 12
)

// A cachePair is our cache and its library's, with the same names.
type cachePair struct {
	names []string
	ours  *mx.Resolver
	peer  *otter.Cache[string, peerEntry]
}

func (l *lab) newCachePair(ctx context.Context) (c cachePair, err error) {
	if c.ours, _, err = l.resolver(); err != nil {
		return c, err
	}
	if c.peer, err = newPeerCache(); err != nil {
		return c, err
	}
	for n := range mxNames {
		c.names = append(c.names, fmt.Sprintf("c%d.bulk.example", n))
		if _, err := c.ours.Lookup(ctx, 1, c.names[n]); err != nil {
			return c, err
		}
		c.peer.Set(c.names[n], peerEntry{mx: true})
	}
	return c, nil
}

// calls returns functions that look up name after name.
func (c cachePair) calls(ctx context.Context) (ours, peer func()) {
	n, m := 0, 0
	ours = func() { n++; _, _ = c.ours.Lookup(ctx, 1, c.names[n%mxNames]) }
	peer = func() { m++; _, _ = c.peer.GetIfPresent(c.names[m%mxNames]) }
	return ours, peer
}

func cachedMX(ctx context.Context, l *lab) (p pair, err error) {
	c, err := l.newCachePair(ctx)
	if err != nil {
		return p, err
	}
	defer c.ours.Close()
	ours, peer := c.calls(ctx)
	return beside(l.span/2, ours, peer), nil
}

// cachedMXParallel looks up on all cores at the same time. A call is as many look-ups
// on each core as take longer than starting the goroutines.
func cachedMXParallel(ctx context.Context, l *lab) (p pair, err error) {
	c, err := l.newCachePair(ctx)
	if err != nil {
		return p, err
	}
	defer c.ours.Close()
	const each = 10_000
	onAll := func(part func(c cachePair) func()) func() {
		return func() {
			var cores sync.WaitGroup
			for range runtime.GOMAXPROCS(0) {
				cores.Go(func() {
					f := part(c)
					for range each {
						f()
					}
				})
			}
			cores.Wait()
		}
	}
	p = beside(l.span/2,
		onAll(func(c cachePair) func() { ours, _ := c.calls(ctx); return ours }),
		onAll(func(c cachePair) func() { _, peer := c.calls(ctx); return peer }))
	return pair{Ours: p.Ours / each, Peer: p.Peer / each}, nil
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
