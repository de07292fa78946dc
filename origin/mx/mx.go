// Package mx determines whether a domain publishes MX records.
//
// The answer is true if the exchange of at least one MX record is a host name.
// Null MX (RFC 7505), no MX record even if there is an address record, and
// NXDOMAIN are false. A look-up that fails returns an [Error], never false.
//
// A [Resolver] is a stub resolver: it queries the configured recursive
// resolvers over UDP with EDNS0, and over TCP if a reply was truncated. Callers
// of the same domain share one look-up, and answers are cached for the records'
// TTL. While the recursive resolvers are down, an answer of true is served past
// its TTL, an answer of false never.
//
// The steps of a look-up are a file each, the fastest first: the name
// (domainname.go), the cache (cache.go), the flight that callers share
// (flight.go), the wait for a slot (fairqueue.go), CNAMEs (cname.go), hedged
// queries to the servers (hedge.go), the exchange with one server (exchange.go,
// transport.go, message.go), and the decision on its reply (decide.go,
// negative.go).
//
// Not included: DNSSEC validation and DNS over TLS, which are left to the
// recursive resolver on the same host or network; address records of the
// exchanges, since a host without one may have one tomorrow.
package mx

import (
	"context"
	"sync"
	"time"
)

// Resolver looks up MX records. It is safe for concurrent use.
type Resolver struct {
	timeout   time.Duration
	hedge     time.Duration // Config.Hedge
	staleWait time.Duration // Config.StaleWait
	servers   []*server
	cache     *cache
	flights   flights
	counters  counters

	ctx        context.Context // ends at Close
	cancel     context.CancelFunc
	goroutines sync.WaitGroup // flights and their queries
}

// New returns a Resolver, or an error if a setting of c is invalid. It sends no
// query; see [Resolver.Probe].
func New(c Config) (*Resolver, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	servers, err := parseServers(c.Servers)
	if err != nil {
		return nil, err
	}
	r := &Resolver{
		timeout: c.Timeout, hedge: c.Hedge, staleWait: c.StaleWait,
		servers: servers, cache: newCache(c),
		flights: flights{byName: map[string]*flight{}, queue: newFairQueue(c)},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r, nil
}

// Lookup reports whether domain publishes an MX record. The domain must be in
// A-label form; case and a final dot are ignored. The error is an [*Error], or
// that of ctx if ctx ended first.
//
// Slots are shared fairly between accounts; account has no other use. An answer
// from the cache needs no slot, and no allocation if domain is in lower case.
func (r *Resolver) Lookup(ctx context.Context, account int64, domain string) (bool, error) {
	if mx, known, err := r.cached(domain); known {
		return mx, err
	}
	name, mx, known, err := r.peek(domain)
	if known {
		return mx, err
	}
	return r.lookUpShared(ctx, account, name)
}

// Peek returns the answer if it needs no query: if the cache has a fresh one, or
// the domain cannot have MX records. Otherwise known is false and Lookup has to
// be called. It is as fast as a Lookup that the cache answers.
func (r *Resolver) Peek(domain string) (mx, known bool, err error) {
	if mx, known, err = r.cached(domain); known {
		return mx, true, err
	}
	_, mx, known, err = r.peek(domain)
	return mx, known, err
}

// peek is Peek for a domain that is not cached as it is written. It returns the name
// to look up if known is false.
func (r *Resolver) peek(domain string) (name string, mx, known bool, err error) {
	name, err = canonical(domain)
	switch {
	case err != nil || name == "":
		return "", false, true, err
	case name == domain:
		return name, false, false, nil
	}
	mx, known, err = r.cached(name)
	return name, mx, known, err
}

// cached returns the fresh answer for a name. The cache has names in canonical form
// only, so a domain that it has is one, and need not be examined.
func (r *Resolver) cached(name string) (mx, known bool, err error) {
	entry, fresh := r.cache.get(name)
	if !fresh {
		return false, false, nil
	}
	r.counters.hits.add()
	mx, err = r.serve(entry)
	return mx, true, err
}

// serve returns the answer or the error of e, and counts stale answers.
func (r *Resolver) serve(e *entry) (bool, error) {
	if e.err != nil {
		return false, e.err
	}
	if e.stale {
		r.counters.stale.Add(1)
	}
	return e.mx, nil
}

// Close cancels all look-ups and waits until their sockets are closed.
// Afterwards only cached answers are returned.
func (r *Resolver) Close() {
	r.flights.close()
	r.cancel()
	r.goroutines.Wait()
	r.cache.close()
}
