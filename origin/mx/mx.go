// Package mx finds out whether a domain publishes MX records.
//
// True means: at least one MX record whose exchange is a host name. Null MX
// (RFC 7505), no MX record even beside an address record, and NXDOMAIN are
// false. What could not be found out is an [Error], never false.
//
// A [Resolver] is a stub: it asks the recursive resolvers it is given, over
// UDP with EDNS0 and over TCP where an answer was truncated. It asks once per
// domain however many callers wait, and keeps what it learns for the records'
// TTL. While its resolvers are down it serves an answer of true past its TTL,
// but never one of false.
//
// The steps of a look-up, cheapest first, have a file each: the name (name.go),
// the cache (cache.go), the flight that many callers share (flight.go), its wait
// for a slot (turns.go), the chain of CNAMEs (follow.go), the race between
// servers (race.go), one exchange with one server (exchange.go, transport.go,
// message.go), and the decision over its answer (decide.go).
//
// Left out: DNSSEC validation and DNS over TLS, which belong to the recursive
// resolver beside this process; address records of the exchanges, since a
// host without one may have one tomorrow.
package mx

import (
	"context"
	"sync"
	"time"
)

// Resolver looks up MX records. It is safe for concurrent use.
type Resolver struct {
	timeout   time.Duration
	hedge     time.Duration // before the second query of a look-up
	staleWait time.Duration // before a stale answer is served
	servers   []*server
	cache     *cache
	flights   flights
	counters  counters

	ctx        context.Context // ends at Close
	cancel     context.CancelFunc
	goroutines sync.WaitGroup // flights and their attempts
}

// New returns a Resolver, or says which part of c cannot be used. It sends
// nothing: see [Resolver.Probe].
func New(c Config) (*Resolver, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	servers, err := parseServers(c.Servers)
	if err != nil {
		return nil, err
	}
	cache, err := newCache(c)
	if err != nil {
		return nil, err
	}
	r := &Resolver{
		timeout: c.Timeout, hedge: c.Hedge, staleWait: c.StaleWait,
		servers: servers, cache: cache,
		flights: flights{byName: map[string]*flight{}, queue: newFairQueue(c)},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r, nil
}

// Lookup reports whether domain publishes an MX record. The domain is in
// A-label form, in any case, without a trailing dot. The error is an [*Error],
// or that of ctx if ctx ended first.
//
// Accounts share the slots fairly; the number of the account has no other
// meaning. An answer from the cache takes no slot, and no allocation if domain
// is in lower case.
func (r *Resolver) Lookup(ctx context.Context, account int64, domain string) (bool, error) {
	name, err := canonical(domain)
	if err != nil || name == "" {
		return false, err
	}
	if mx, known, err := r.peek(name); known {
		return mx, err
	}
	return r.lookUpShared(ctx, account, name)
}

// Peek answers without a query, or reports that Lookup has to be called: known
// is false unless the answer is in the cache and fresh, or the domain can have
// no MX record. It is as cheap as a Lookup that the cache answers.
func (r *Resolver) Peek(domain string) (mx, known bool, err error) {
	name, err := canonical(domain)
	if err != nil || name == "" {
		return false, true, err
	}
	return r.peek(name)
}

func (r *Resolver) peek(name string) (mx, known bool, err error) {
	entry, fresh, _ := r.cache.get(name)
	if !fresh {
		return false, false, nil
	}
	r.counters.hits.Add(1)
	mx, err = r.serve(entry)
	return mx, true, err
}

// serve is the answer that a caller gets from an entry.
func (r *Resolver) serve(e entry) (bool, error) {
	if e.err != nil {
		return false, e.err
	}
	if e.stale {
		r.counters.stale.Add(1)
	}
	return e.mx, nil
}

// Close ends every look-up under way and waits until their sockets are closed.
// Afterwards only what is in the cache is answered.
func (r *Resolver) Close() {
	r.flights.close()
	r.cancel()
	r.goroutines.Wait()
	r.cache.close()
}
