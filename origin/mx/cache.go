package mx

import (
	"math"
	"time"
)

// cache stores the answer for each domain for its TTL, and a failure for
// failureTTL. An answer of true may be served stale after its TTL. The number of
// entries is bounded; the domains looked up most often stay.
type cache struct {
	table *table
	clock *clock

	minTTL, maxTTL, maxNegativeTTL time.Duration
	failureTTL, staleFor, recheck  time.Duration
}

// entry is the cached answer or failure of a domain. Its times are on the
// cache's clock. An entry in the cache never changes.
type entry struct {
	mx         bool
	stale      bool   // past its TTL, served while resolvers are down; only if mx
	err        *Error // the failure; nil for an answer
	freshUntil int64  // fresh before
	expires    int64  // not served from then on
}

func newCache(c Config) *cache {
	if c.clock == nil {
		c.clock = startClock()
	}
	return &cache{
		table: newTable(c.CacheEntries), clock: c.clock,
		minTTL: c.MinTTL, maxTTL: c.MaxTTL, maxNegativeTTL: c.MaxNegativeTTL,
		failureTTL: c.FailureTTL, staleFor: c.StaleFor, recheck: c.StaleRecheck,
	}
}

// get returns the entry of name and whether it is fresh, or nil. An entry that is not
// fresh is a stale answer of true.
func (k *cache) get(name string) (e *entry, fresh bool) {
	it := k.table.get(name)
	if it == nil {
		return nil, false
	}
	now := k.clock.now()
	if now >= it.expires {
		return nil, false
	}
	return &it.entry, now < it.freshUntil
}

// store stores an answer for its clamped TTL. A negative answer, null MX
// included, is stored for at most maxNegativeTTL and never served stale: the
// domain may accept mail by then.
func (k *cache) store(name string, a answer) *entry {
	longest, staleFor := k.maxTTL, k.staleFor
	if !a.mx {
		longest, staleFor = k.maxNegativeTTL, 0
	}
	until := k.after(max(k.minTTL, min(a.ttl, longest)))
	return k.set(name, entry{mx: a.mx, freshUntil: until, expires: until + int64(staleFor)})
}

// storeFailure stores a failure for failureTTL (RFC 9520 section 3.2). If there
// is a stale answer that has not expired, it is stored instead and counts as
// fresh until the next refresh is due.
func (k *cache) storeFailure(name string, err *Error, stale *entry) *entry {
	if stale != nil && k.clock.now() < stale.expires {
		return k.set(name, entry{mx: stale.mx, stale: true, freshUntil: k.after(k.recheck), expires: stale.expires})
	}
	until := k.after(k.failureTTL)
	return k.set(name, entry{err: err, freshUntil: until, expires: until})
}

func (k *cache) set(name string, e entry) *entry {
	return &k.table.set(name, e, k.clock.now()).entry
}

func (k *cache) after(d time.Duration) int64 {
	return k.clock.now() + min(int64(d), math.MaxInt64/4)
}

func (k *cache) size() int { return k.table.size() }

// close stops the clock, so that answers that are fresh stay so.
func (k *cache) close() { k.clock.close() }
