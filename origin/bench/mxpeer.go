package main

import (
	"context"
	"fmt"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/addrspec/addrspec/origin/mx"
)

// mxNames are as many domains as the package's own benchmark looks up.
const mxNames = 1 << 12

// A cachePair is our cache and otter's, with the same names.
type cachePair struct {
	names []string
	ours  *mx.Resolver
	peer  *otter.Cache[string, peerEntry]
	clock *otter.CoarseClock
}

// A peerEntry is as large as an entry of the resolver's cache.
type peerEntry struct {
	mx bool
	_  [3]int64
}

// newCachePair configures the peer for the same work: as many entries, the same
// resolution of time. Otter was the resolver's cache before.
func (l *lab) newCachePair(ctx context.Context) (c cachePair, err error) {
	if c.ours, _, err = l.resolver(); err != nil {
		return c, err
	}
	c.clock = otter.NewCoarseClock(100 * time.Millisecond)
	c.peer, err = otter.New(&otter.Options[string, peerEntry]{
		MaximumSize: 100_000, Clock: c.clock,
		ExpiryCalculator: otter.ExpiryWritingFunc(func(otter.Entry[string, peerEntry]) time.Duration { return time.Hour }),
	})
	if err != nil {
		return c, err
	}
	return c, c.fill(ctx)
}

func (c *cachePair) fill(ctx context.Context) error {
	for n := range mxNames {
		c.names = append(c.names, fmt.Sprintf("c%d.bulk.example", n))
		if _, err := c.ours.Lookup(ctx, 1, c.names[n]); err != nil {
			return err
		}
		c.peer.Set(c.names[n], peerEntry{mx: true})
	}
	return nil
}

func (c *cachePair) close() {
	c.ours.Close()
	c.peer.StopAllGoroutines()
	c.clock.Stop()
}

// calls returns functions that look up name after name.
func (c *cachePair) calls(ctx context.Context) (ours, peer func()) {
	n, m := 0, 0
	ours = func() { n++; _, _ = c.ours.Lookup(ctx, 1, c.names[n%mxNames]) }
	peer = func() { m++; _, _ = c.peer.GetIfPresent(c.names[m%mxNames]) }
	return ours, peer
}

// callsEach is more than starting a goroutine takes.
const callsEach = 10_000

// onAllCores returns functions that look up callsEach names on each core.
func (c *cachePair) onAllCores(ctx context.Context) (ours, peer func()) {
	ours = func() { onAllCores(func() func() { f, _ := c.calls(ctx); return f }) }
	peer = func() { onAllCores(func() func() { _, f := c.calls(ctx); return f }) }
	return ours, peer
}
