package mx

import (
	"math"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"
)

// cache stores the answer for each domain for its TTL, and a failure for
// failureTTL. An answer of true may be served stale after its TTL. The number of
// entries is bounded; the domains looked up most often stay.
type cache struct {
	entries *otter.Cache[string, entry]
	clock   otter.Clock

	stopClock func()

	minTTL, maxTTL, maxNegativeTTL time.Duration
	failureTTL, staleFor, recheck  time.Duration
}

// entry is the cached answer or failure of a domain. Its times are on the
// cache's clock.
type entry struct {
	mx         bool
	stale      bool   // past its TTL, served while resolvers are down; only if mx
	err        *Error // the failure; nil for an answer
	freshUntil int64  // fresh before
	expires    int64  // removed at
}

// clockResolution is how exactly the ends of TTLs are kept, which are whole seconds.
// Reading the precise time takes a third of a look-up that the cache answers. Changes of
// the system's clock have no effect.
const clockResolution = 100 * time.Millisecond

func newCache(c Config) (*cache, error) {
	stopClock := func() {}
	if c.clock == nil {
		coarse := otter.NewCoarseClock(clockResolution)
		c.clock, stopClock = coarse, coarse.Stop
	}
	k := &cache{
		clock: c.clock, stopClock: stopClock, minTTL: c.MinTTL, maxTTL: c.MaxTTL, maxNegativeTTL: c.MaxNegativeTTL,
		failureTTL: c.FailureTTL, staleFor: c.StaleFor, recheck: c.StaleRecheck,
	}
	var err error
	k.entries, err = otter.New(&otter.Options[string, entry]{
		MaximumSize: c.CacheEntries,
		Clock:       c.clock,
		Logger:      &otter.NoopLogger{}, // a log line might have a domain
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, entry]) time.Duration {
			return time.Duration(e.Value.expires - k.now())
		}),
	})
	return k, err
}

// get returns the entry of name, whether it is fresh, and whether there is one.
// An entry that is not fresh is a stale answer of true.
func (k *cache) get(name string) (e entry, fresh, known bool) {
	e, known = k.entries.GetIfPresent(name)
	now := k.now()
	fresh, known = known && now < e.freshUntil, known && now < e.expires
	e.stale = e.stale || !fresh
	return e, fresh, known
}

// store stores an answer for its clamped TTL. A negative answer, null MX
// included, is stored for at most maxNegativeTTL and never served stale: the
// domain may accept mail by then.
func (k *cache) store(name string, a answer) entry {
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
func (k *cache) storeFailure(name string, err *Error, stale *entry) entry {
	if stale != nil && k.now() < stale.expires {
		return k.set(name, entry{mx: stale.mx, stale: true, freshUntil: k.after(k.recheck), expires: stale.expires})
	}
	until := k.after(k.failureTTL)
	return k.set(name, entry{err: err, freshUntil: until, expires: until})
}

// set stores e under a copy of name, which may be a substring of a request's
// body.
func (k *cache) set(name string, e entry) entry {
	k.entries.Set(strings.Clone(name), e)
	return e
}

func (k *cache) now() int64 { return k.clock.NowNano() }

func (k *cache) after(d time.Duration) int64 {
	return k.now() + min(int64(d), math.MaxInt64/4)
}

func (k *cache) size() int { return k.entries.EstimatedSize() }

func (k *cache) close() {
	k.entries.StopAllGoroutines()
	k.stopClock()
}
