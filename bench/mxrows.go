package main

import (
	"context"
	"fmt"
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
		{"MX, not cached, one after another", "ns", "dns.Exchange", atMost(1.1), oneMX},
		{fmt.Sprintf("MX, not cached, %d callers", mxCallers), "look-ups/s", "as many callers of dns.Exchange", atLeast(0.9), manyMX},
	}
}

// mxCallers is as many look-ups as the resolver runs at a time for one account.
const mxCallers = 64

func cachedMX(ctx context.Context, l *lab) (p pair, err error) {
	r, _, err := l.resolver()
	if err != nil {
		return p, err
	}
	defer r.Close()
	const domain = "mail.example"
	if _, err := r.Lookup(ctx, 1, domain); err != nil {
		return p, err
	}
	cache, err := otter.New(&otter.Options[string, bool]{MaximumSize: 100_000, ExpiryCalculator: otter.ExpiryWriting[string, bool](time.Hour)})
	if err != nil {
		return p, err
	}
	cache.Set(domain, true)
	return beside(l.span/2, func() { _, _ = r.Lookup(ctx, 1, domain) }, func() { _, _ = cache.GetIfPresent(domain) }), nil
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

func oneMX(ctx context.Context, l *lab) (p pair, err error) { return l.uncached(ctx, 1, false) }

func manyMX(ctx context.Context, l *lab) (p pair, err error) { return l.uncached(ctx, mxCallers, true) }

// uncached compares look-ups of new domains by some callers with plain queries: their
// rate, or the time that each takes.
func (l *lab) uncached(ctx context.Context, callers int, rate bool) (p pair, err error) {
	r, server, err := l.resolver()
	if err != nil {
		return p, err
	}
	defer r.Close()
	p.Ours, err = l.callAll(callers, func(domain string) error { _, err := r.Lookup(ctx, 1, domain); return err })
	if err != nil {
		return p, err
	}
	p.Peer, err = l.callAll(callers, func(domain string) error {
		_, err := dns.Exchange(new(dns.Msg).SetQuestion(domain+".", dns.TypeMX), server)
		return err
	})
	if !rate {
		p = pair{Ours: 1e9 / p.Ours, Peer: 1e9 / p.Peer}
	}
	return p, err
}

// callAll has callers call f with domains that no call had before, and returns the
// calls a second.
func (l *lab) callAll(callers int, f func(domain string) error) (float64, error) {
	var calls atomic.Int64
	var failure atomic.Pointer[error]
	var all sync.WaitGroup
	begun := time.Now()
	for range callers {
		all.Go(func() {
			for time.Since(begun) < l.span/2 && failure.Load() == nil {
				if err := f(fmt.Sprintf("n%d.bulk.example", calls.Add(1))); err != nil {
					failure.Store(&err)
				}
			}
		})
	}
	all.Wait()
	if err := failure.Load(); err != nil {
		return 0, *err
	}
	return float64(calls.Load()) / time.Since(begun).Seconds(), nil
}
