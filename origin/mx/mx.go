// Package mx determines whether a domain publishes MX records, and which exchanges they
// name.
//
// The result is true if at least one MX record names an exchange: a host name, and not
// one such as localhost that no other host can reach.
// Null MX (RFC 7505), no MX record even if there is an address record, and
// NXDOMAIN are false. A lookup that fails returns an [Error], never false. The name of an
// exchange counts as it is published: it is not looked up, also if it is a CNAME.
//
// A [Resolver] is a stub resolver: it queries the configured recursive
// resolvers over UDP with EDNS0, and over TCP if a reply was truncated. Callers
// of the same domain share one lookup, and results are cached for the records'
// TTL. While the recursive resolvers are down, a result of true is served past
// its TTL, a result of false never.
//
// A resolver that denies every MX record, such as one that does not resolve the
// Internet, makes false what is true. [Resolver.Verify] finds it, by domains that are
// known to have MX records, and with [Config.Strict] its replies are errors.
//
// The steps of a lookup, the fastest first: the cache (cache.go), the flight that
// callers share (flight.go), the wait for a slot (fairqueue.go), CNAMEs and hedged
// queries to the servers (query.go), the exchange with one server (exchange.go), and
// the decision on its reply (decide.go).
//
// For a domain without MX records, [Resolver.LookupAddress] looks up the address records, to
// which mail goes then, in the same way.
//
// Not included: DNSSEC validation and DNS over TLS, which are left to the
// recursive resolver on the same host or network; address records of the
// exchanges, since a host without one may have one tomorrow.
package mx

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// Resolver looks up MX and address records. It is safe for concurrent use.
type Resolver struct {
	timeout   time.Duration
	hedge     time.Duration // Config.hedge
	staleWait time.Duration // Config.staleWait
	withMX    []string      // Config.WithMX
	strict    bool          // Config.Strict
	servers   servers
	cache     *cache
	flights   flights
	counters  counters

	ctx        context.Context // ends at Close
	cancel     context.CancelFunc
	goroutines sync.WaitGroup // flights, their queries, and the one that forgets
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
		timeout: c.Timeout, hedge: c.hedge, staleWait: c.staleWait,
		withMX: c.WithMX, strict: c.Strict && len(c.WithMX) > 0,
		servers: servers, cache: newCache(c),
		flights: flights{bySubject: map[subject]*flight{}, queue: newFairQueue(c)},
	}
	for _, s := range servers {
		s.idle.most = max(1, c.Concurrency/len(servers))
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.goroutines.Go(func() { r.cache.forget(r.ctx) })
	return r, nil
}

// Result is what is known about the mail of a domain.
type Result struct {
	// MX: it publishes an MX record that names an exchange.
	MX bool
	// Exchanges has the names of its exchanges, separated by a space: in lower case and
	// without a final dot, by preference and then by name, none twice. It is empty
	// without MX. If they take more than 1,024 bytes, "*" replaces the last of them: it is
	// no name, so that a part of the exchanges is not taken for all of them.
	Exchanges string
	// Fallback: it exists and has no MX record at all, so mail goes to its address
	// record, if it has one (RFC 5321 section 5.1). Null MX, and records of which none
	// names an exchange, leave no fallback.
	Fallback bool
	// AddressRecord: it has the address record to which mail goes. Only LookupAddress
	// sets it.
	AddressRecord bool
	// AddressUnknown: its address record could not be looked up. Only LookupAddress sets it.
	AddressUnknown bool
}

// Lookup looks up the MX records of domain. The domain must be in A-label form; case
// and a final dot are ignored. The error is an [*Error], or that of ctx if ctx ended
// first.
//
// Slots are shared fairly between accounts; account has no other use. A result
// from the cache needs no slot, and no allocation if domain is in lower case.
func (r *Resolver) Lookup(ctx context.Context, account int64, domain string) (Result, error) {
	e, err := r.lookup(ctx, account, subject{domain, mxRecords})
	return e.result(), err
}

// LookupAddress is Lookup. If the result has a Fallback, it also looks for an address
// record (A or AAAA), with the same cache and limits. Both together take no longer
// than a Lookup that waits for a slot may, since servers and proxies wait for that. If the
// lookup of the address record fails, or ctx ends during it, the Result has AddressUnknown and
// the error is nil, because what is known about MX counts.
func (r *Resolver) LookupAddress(ctx context.Context, account int64, domain string) (Result, error) {
	end := time.Now().Add(2 * r.timeout)
	found, err := r.Lookup(ctx, account, domain)
	if err != nil || !found.Fallback {
		return found, err
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	found.AddressRecord, err = r.hasAddress(ctx, account, domain)
	found.AddressUnknown = err != nil
	return found, nil
}

// hasAddress reports whether domain has an A or AAAA record.
func (r *Resolver) hasAddress(ctx context.Context, account int64, domain string) (bool, error) {
	e, err := r.lookup(ctx, account, subject{domain, addressRecords})
	return e.found, err
}

// Peek returns the result of Lookup if it needs no query: if the cache has a fresh one,
// or the domain cannot have MX records. Otherwise known is false and Lookup has to
// be called. It is as fast as a Lookup that the cache serves.
func (r *Resolver) Peek(domain string) (found Result, known bool, err error) {
	_, e, err := r.peek(subject{domain, mxRecords})
	if e == nil {
		return Result{}, false, nil
	}
	return e.result(), true, err
}

// PeekAddress is Peek for LookupAddress.
func (r *Resolver) PeekAddress(domain string) (found Result, known bool, err error) {
	found, known, err = r.Peek(domain)
	if !found.Fallback {
		return found, known, err
	}
	_, e, err := r.peek(subject{domain, addressRecords})
	if e == nil {
		return Result{}, false, nil
	}
	found.AddressRecord, found.AddressUnknown = e.found, err != nil
	return found, true, nil
}

// subject is what a lookup, its flight and its cached result are about.
type subject struct {
	name  string
	about records
}

// records are those that a lookup looks for.
type records uint8

const (
	mxRecords records = iota
	addressRecords
)

// types returns the types to query, the next one if the name exists and has no records
// of the ones before. More domains have A records than AAAA.
func (of records) types() []uint16 { return queryTypes[of] }

var queryTypes = [...][]uint16{mxRecords: {dns.TypeMX}, addressRecords: {dns.TypeA, dns.TypeAAAA}}

// lookup returns the entry of s, which need not be in canonical form.
func (r *Resolver) lookup(ctx context.Context, account int64, s subject) (*entry, error) {
	canonical, e, err := r.peek(s)
	if e != nil {
		return e, err
	}
	return r.lookupShared(ctx, account, canonical)
}

// peek returns the entry of s if it needs no query, or nil and s in canonical form.
func (r *Resolver) peek(s subject) (subject, *entry, error) {
	if e, err := r.cached(s); e != nil {
		return s, e, err
	}
	name, err := canonical(s.name)
	switch {
	case err != nil || name == "":
		return s, noRecords, err
	case name == s.name:
		return s, nil, nil
	}
	s.name = name
	e, err := r.cached(s)
	return s, e, err
}

// noRecords is the entry of a name that cannot have any, and that of a caller who left.
var noRecords = new(entry)

// cached returns the fresh entry of s, or nil. The cache has names in canonical form
// only, so a domain that it has is one, and need not be examined.
func (r *Resolver) cached(s subject) (*entry, error) {
	e, fresh := r.cache.get(s)
	if !fresh {
		return nil, nil
	}
	r.counters.hits.Add(1)
	return r.serve(e)
}

// serve returns e and its error, and counts stale results.
func (r *Resolver) serve(e *entry) (*entry, error) {
	if e.err != nil {
		return e, e.err
	}
	if e.stale {
		r.counters.stale.Add(1)
	}
	return e, nil
}

// Close cancels all lookups and waits until their sockets are closed.
// Afterwards only cached results are returned.
func (r *Resolver) Close() {
	r.flights.close()
	r.cancel()
	r.goroutines.Wait()
	for _, s := range r.servers {
		s.idle.close()
	}
	r.cache.stopClock()
}

// Stats has the counters of a [Resolver] since New, and four gauges: InFlight,
// Waiting, Entries and Lying. A flight is one DNS lookup, shared by its callers.
type Stats struct {
	Hits   uint64 // lookups served from the cache
	Misses uint64 // lookups that started a flight
	Shared uint64 // lookups that joined a flight
	Stale  uint64 // results served past their TTL

	// Outcomes of flights. A flight that all its callers left has none. Found and None
	// are about MX records, or about addresses where LookupAddress was called.
	Found, None, Timeouts, Failures uint64
	Spent                           time.Duration // running, the sum of all flights

	Refused uint64 // lookups refused because too many wait
	Expired uint64 // waits that ended without a slot

	UDP, TCP uint64 // queries sent
	Ignored  uint64 // datagrams ignored: forged, late, or not DNS

	InFlight int // flights that run or wait for a slot
	Waiting  int // queue entries: flights that wait, counted once for each account
	Entries  int // results in the cache, of which some may have expired
	Lying    int // servers that Verify has last found to lie
}

// Stats returns the statistics. Each is exact, but they are not read at one
// instant.
func (r *Resolver) Stats() Stats {
	c := &r.counters
	inFlight, waiting := r.flights.count()
	return Stats{
		Hits: c.hits.Load(), Misses: c.misses.Load(), Shared: c.shared.Load(), Stale: c.stale.Load(),
		Found: c.found.Load(), None: c.none.Load(), Timeouts: c.timeouts.Load(), Failures: c.failures.Load(),
		Spent: time.Duration(c.spent.Load()),
		UDP:   c.udp.Load(), TCP: c.tcp.Load(), Ignored: c.ignored.Load(),
		Refused: c.refused.Load(), Expired: c.expired.Load(),
		InFlight: inFlight, Waiting: waiting, Entries: r.cache.size(), Lying: r.servers.count(lying),
	}
}

type counters struct {
	hits, misses, shared, stale     atomic.Uint64
	spent                           atomic.Int64
	found, none, timeouts, failures atomic.Uint64
	refused, expired                atomic.Uint64
	udp, tcp, ignored               atomic.Uint64
}

// countMiss counts a lookup that the cache did not serve; first is false if it
// joined a flight.
func (c *counters) countMiss(first bool) {
	if first {
		c.misses.Add(1)
	} else {
		c.shared.Add(1)
	}
}

// countOutcome counts the outcome of a flight; kind is 0 without an error.
func (c *counters) countOutcome(found bool, kind Kind, spent time.Duration) {
	c.spent.Add(int64(spent))
	switch {
	case kind == Timeout:
		c.timeouts.Add(1)
	case kind == Failure:
		c.failures.Add(1)
	case found:
		c.found.Add(1)
	default:
		c.none.Add(1)
	}
}
