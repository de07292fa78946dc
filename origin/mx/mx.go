// Package mx determines whether a domain publishes MX records, and which exchanges they
// name.
//
// The result is true if at least one MX record names an exchange: a name of the public DNS
// at which a host may take mail. Null MX (RFC 7505), no MX record even if there is an address
// record, and NXDOMAIN are false. A lookup that fails returns an [Error], never false. The
// name of an exchange counts as it is published: it is not looked up, also if it is a CNAME.
//
// A [Resolver] is a stub resolver: it queries the configured recursive resolvers over UDP with
// EDNS0, and over TCP if a reply was truncated. Callers of the same domain share one lookup,
// and results are cached for the records' TTL. While the recursive resolvers are down, a
// result of true is served past its TTL, a result of false never.
//
// A resolver that denies every MX record, such as one that does not resolve the Internet,
// makes false what is true. [Resolver.Verify] finds it, by domains that are known to have MX
// records, and with [Config.Strict] its replies are errors.
//
// The steps of a lookup: the cache (cache.go), the flight that callers share and its wait for
// a slot (flight.go), the questions to the servers (query.go), one exchange of messages
// (exchange.go), and the decision on the reply (decide.go).
//
// Not included: DNSSEC validation and DNS over TLS, which are left to the recursive resolver
// on the same host or network; address records of the exchanges, because a host without one
// may have one tomorrow.
package mx

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/limit"
	"github.com/addrspec/addrspec/wasm/host"
)

// Resolver looks up MX and address records. It is safe for concurrent use.
type Resolver struct {
	config   Config // with its defaults
	servers  *servers
	cache    *cache
	slots    *limit.Limiter[int64] // of the flights that run, by account
	counters counters

	mu      sync.Mutex
	flights map[subject]*flight
	closed  bool

	ctx        context.Context // ends at Close
	cancel     context.CancelFunc
	goroutines sync.WaitGroup // that Close waits for
}

// New returns a Resolver, or an error if a setting of c is invalid. It sends no
// query; see [Resolver.Probe].
func New(c Config) (*Resolver, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	servers, err := newServers(c)
	if err != nil {
		return nil, err
	}
	r := &Resolver{config: c, servers: servers, cache: newCache(c)}
	r.flights = map[subject]*flight{}
	r.slots = limit.New[int64](limit.Config{
		Units: c.Concurrency, PerOwner: c.AccountConcurrency, Small: 1,
		Waiting: c.maxWaiting, WaitingPerOwner: c.accountWaiting,
	})
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r, nil
}

// Close cancels all lookups and waits until their sockets are closed.
// Afterwards only cached results are returned.
func (r *Resolver) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	r.goroutines.Wait()
	r.cache.close()
}

// Reload reads /etc/resolv.conf again, if it names the resolvers. Lookups do so by themselves,
// if it has changed, at most every five seconds.
func (r *Resolver) Reload() { r.reload(true) }

// reload asks new servers at once whether they lie. A false is about the network of the
// servers that were asked, so it is not served any more.
func (r *Resolver) reload(atOnce bool) {
	if !r.servers.reload(atOnce) {
		return
	}
	r.cache.generation.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.goroutines.Go(func() { _, _ = r.Verify(r.ctx) })
	}
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
	// Address: whether it has that address record, if there is a Fallback. Only LookupAddress
	// looks it up.
	Address host.AddressRecord
}

// Lookup returns r as the module takes it.
func (r Result) Lookup() host.Lookup {
	l := host.Lookup{MX: r.MX, Exchanges: r.Exchanges, AddressRecord: r.Address}
	if !r.Fallback {
		l.AddressRecord = host.AddressAbsent
	}
	return l
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
// record (A or AAAA), with the same cache and limits. If that lookup fails, the result stands
// without it. Both together take no longer than a Lookup that waits for a slot may, since
// servers and proxies wait for that.
func (r *Resolver) LookupAddress(ctx context.Context, account int64, domain string) (Result, error) {
	end := time.Now().Add(2 * r.config.Timeout)
	found, err := r.Lookup(ctx, account, domain)
	if err != nil || !found.Fallback {
		return found, err
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	e, err := r.lookup(ctx, account, subject{domain, addressRecords})
	found.Address = addressRecord(e, err)
	return found, nil
}

// Peek returns the result of Lookup if it needs no query: if the cache has a fresh one,
// or the domain cannot have MX records. Otherwise known is false and Lookup has to
// be called. It is as fast as a Lookup that the cache serves.
func (r *Resolver) Peek(domain string) (found Result, known bool, err error) {
	_, e, known, err := r.peek(subject{domain, mxRecords})
	return e.result(), known, err
}

// PeekAddress is Peek for LookupAddress.
func (r *Resolver) PeekAddress(domain string) (found Result, known bool, err error) {
	found, known, err = r.Peek(domain)
	if !found.Fallback {
		return found, known, err
	}
	_, e, known, err := r.peek(subject{domain, addressRecords})
	if !known {
		return Result{}, false, nil
	}
	found.Address = addressRecord(e, err)
	return found, true, nil
}

// addressRecord returns what a lookup says about address records.
func addressRecord(e entry, err error) host.AddressRecord {
	switch {
	case err != nil:
		return host.AddressUnknown
	case e.found:
		return host.AddressPresent
	}
	return host.AddressAbsent
}

// subject is what a lookup, its flight and its cached result are about.
type subject struct {
	name  string
	about records
}

// lookup returns the entry of s, which need not be in canonical form.
func (r *Resolver) lookup(ctx context.Context, account int64, s subject) (entry, error) {
	canonical, e, known, err := r.peek(s)
	if known {
		return e, err
	}
	return r.lookupShared(ctx, account, canonical)
}

// peek returns the entry of s if it needs no query, or s in canonical form. The cache has
// names in canonical form only, so a name that it has is one, and need not be examined.
func (r *Resolver) peek(s subject) (canonical subject, e entry, known bool, err error) {
	e, fresh := r.cache.get(s)
	if !fresh {
		name, err := canonicalName(s.name)
		if err != nil || name == "" {
			return s, entry{}, true, err
		}
		s.name = name
		e, fresh = r.cache.get(s)
	}
	if !fresh {
		return s, entry{}, false, nil
	}
	r.counters.hits.Add(1)
	e, err = r.serve(e)
	return s, e, true, err
}

// serve returns e and its error, and counts stale results.
func (r *Resolver) serve(e entry) (entry, error) {
	if e.err != nil {
		return e, e.err
	}
	if e.stale {
		r.counters.stale.Add(1)
	}
	return e, nil
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

	Refused uint64 // waits for a slot that were refused because too many wait
	Expired uint64 // waits that ended without a slot

	UDP, TCP uint64 // queries sent
	Ignored  uint64 // datagrams ignored: forged, late, or not DNS

	InFlight int // flights that run or wait for a slot
	Waiting  int // flights that wait, counted once for each account
	Entries  int // results in the cache, of which some may have expired
	Lying    int // servers that Verify has last found to lie
}

// Stats returns the statistics. Each is exact, but they are not read at one
// instant.
func (r *Resolver) Stats() Stats {
	c := &r.counters
	s := Stats{
		Hits: c.hits.Load(), Misses: c.misses.Load(), Shared: c.shared.Load(), Stale: c.stale.Load(),
		Found: c.found.Load(), None: c.none.Load(), Timeouts: c.timeouts.Load(), Failures: c.failures.Load(),
		Spent:   time.Duration(c.spent.Load()),
		Refused: c.refused.Load(), Expired: c.expired.Load(),
		UDP: c.udp.Load(), TCP: c.tcp.Load(), Ignored: c.ignored.Load(),
		Waiting: r.slots.Waiting(), Entries: r.cache.entries.EstimatedSize(), Lying: count(r.servers.current(), lying),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.InFlight = len(r.flights)
	return s
}

type counters struct {
	hits, misses, shared, stale     atomic.Uint64
	found, none, timeouts, failures atomic.Uint64
	spent                           atomic.Int64
	refused, expired                atomic.Uint64
	udp, tcp, ignored               atomic.Uint64
}
