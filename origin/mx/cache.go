package mx

import (
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

const (
	staleFor     = 24 * time.Hour   // how long past its TTL a result of true may be served (RFC 8767)
	staleRecheck = 30 * time.Second // time between a failed refresh and the next
)

// clockResolution is how exactly the ends of TTLs are kept, which are whole seconds.
// The clock counts from its start: changes of the system's clock have no effect.
const clockResolution = 100 * time.Millisecond

// cache stores the result for each domain for its TTL, and a failure for FailureTTL. A
// result of true may be served stale after its TTL. What has expired leaves the memory
// within seconds: domains are parts of email addresses.
type cache struct {
	config  Config
	entries *otter.Cache[subject, entry]
	clock   otter.Clock
	close   func()

	// generation counts how often a resolver was found to lie (Config.Strict), and how often
	// the servers changed. A result of false from a lookup that began in an earlier one is
	// not served: it may be a lie, or about another network.
	generation atomic.Uint32
}

// entry is the cached result or failure of a subject. Its times are on the cache's clock.
type entry struct {
	exchanges  string // Result.Exchanges
	err        *Error // the failure; nil for a result
	freshUntil int64  // fresh before
	expires    int64  // not served from then on
	generation uint32 // the cache's when the lookup began
	found      bool   // the domain has an exchange, or an address
	noData     bool   // it exists, but has no records of these types
	stale      bool   // past its TTL, served while resolvers are down; only if found
}

// result returns the result of Lookup, which is empty for a failure.
func (e entry) result() Result {
	return Result{MX: e.found, Exchanges: e.exchanges, Fallback: e.noData}
}

// weightUnit is how many bytes of names count as one entry. Usual entries have 60 bytes; the
// longest, which an attacker could publish, 1,277.
const weightUnit = 256

func newCache(c Config) *cache {
	k := &cache{config: c, clock: c.clock}
	stopClock := func() {}
	if k.clock == nil {
		coarse := otter.NewCoarseClock(clockResolution)
		k.clock, stopClock = coarse, coarse.Stop
	}
	k.entries = otter.Must(&otter.Options[subject, entry]{
		MaximumWeight: uint64(c.cacheEntries),
		Weigher:       func(s subject, e entry) uint32 { return uint32(1 + (len(s.name)+len(e.exchanges))/weightUnit) },
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[subject, entry]) time.Duration {
			return time.Duration(e.Value.expires - k.clock.NowNano())
		}),
		Clock: k.clock,
	})
	k.close = func() {
		k.entries.StopAllGoroutines()
		stopClock()
	}
	return k
}

// get returns the entry of s and whether it is fresh. An entry that is not fresh is a stale
// result of true, or the zero entry if there is none.
func (k *cache) get(s subject) (e entry, fresh bool) {
	e, ok := k.entries.GetIfPresent(s)
	if !ok {
		return entry{}, false
	}
	now := k.clock.NowNano()
	doubtful := !e.found && e.err == nil && e.generation != k.generation.Load()
	if now >= e.expires || doubtful {
		return entry{}, false
	}
	return e, now < e.freshUntil
}

// store stores a result for its clamped TTL. A negative one, null MX included, is stored for
// at most MaxNegativeTTL and never served stale: the domain may accept mail by then.
func (k *cache) store(s subject, a result, generation uint32) entry {
	longest, stale := k.config.MaxTTL, staleFor
	if !a.found {
		longest, stale = k.config.MaxNegativeTTL, 0
	}
	until := k.after(max(k.config.MinTTL, min(a.ttl, longest)))
	return k.set(s, entry{found: a.found, exchanges: a.exchanges, noData: a.noData,
		generation: generation, freshUntil: until, expires: until + int64(stale)})
}

// storeFailure stores a failure for FailureTTL (RFC 9520 section 3.2). If there is a stale
// result that has not expired, it is stored instead and counts as fresh until the next refresh
// is due.
func (k *cache) storeFailure(s subject, err *Error, stale *entry) entry {
	if stale != nil && k.clock.NowNano() < stale.expires {
		again := *stale
		again.freshUntil = k.after(staleRecheck)
		return k.set(s, again)
	}
	until := k.after(k.config.FailureTTL)
	return k.set(s, entry{err: err, freshUntil: until, expires: until})
}

// set stores e under a copy of the name, which may be part of a request's body.
func (k *cache) set(s subject, e entry) entry {
	k.entries.Set(subject{strings.Clone(s.name), s.about}, e)
	return e
}

func (k *cache) after(d time.Duration) int64 {
	return k.clock.NowNano() + min(int64(d), math.MaxInt64/4)
}
