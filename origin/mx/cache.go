package mx

import (
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

// clockResolution is how exactly the ends of TTLs are kept, which are whole seconds.
// The clock counts from its start: changes of the system's clock have no effect.
const clockResolution = 100 * time.Millisecond

// cache stores the result for each domain for its TTL, and a failure for
// failureTTL. A result of true may be served stale after its TTL. The number of
// entries is bounded, and with it their bytes, since a name has at most maxName; the
// domains looked up most often stay.
type cache struct {
	entries   *otter.Cache[string, *entry]
	clock     otter.Clock
	stopClock func()

	minTTL, maxTTL, maxNegativeTTL time.Duration
	failureTTL, staleFor, recheck  time.Duration

	// generation counts how often a resolver was found to lie (Config.Strict). A result
	// of false from a lookup that began in an earlier one is not served: it may be a lie.
	generation atomic.Uint32
}

// entry is the cached result or failure of a domain. Its times are on the
// cache's clock. An entry in the cache never changes.
type entry struct {
	found      bool   // the domain has an exchange
	fallback   bool   // Result.Fallback
	stale      bool   // past its TTL, served while resolvers are down; only if found
	generation uint32 // the cache's when the lookup began
	exchanges  string // Result.Exchanges
	err        *Error // the failure; nil for a result
	freshUntil int64  // fresh before
	expires    int64  // not served from then on
}

func newCache(c Config) (*cache, error) {
	stopClock := func() {}
	if c.clock == nil {
		coarse := otter.NewCoarseClock(clockResolution)
		c.clock, stopClock = coarse, coarse.Stop
	}
	k := &cache{
		clock: c.clock, stopClock: stopClock,
		minTTL: c.MinTTL, maxTTL: c.MaxTTL, maxNegativeTTL: c.MaxNegativeTTL,
		failureTTL: c.FailureTTL, staleFor: c.staleFor, recheck: c.staleRecheck,
	}
	var err error
	k.entries, err = otter.New(&otter.Options[string, *entry]{
		MaximumSize: c.cacheEntries,
		Clock:       c.clock,
		Logger:      &otter.NoopLogger{}, // a log line might contain a domain
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, *entry]) time.Duration {
			return time.Duration(e.Value.expires - k.now())
		}),
	})
	return k, err
}

// get returns the entry of name and whether it is fresh, or nil. An entry that is not
// fresh is a stale result of true.
func (k *cache) get(name string) (e *entry, fresh bool) {
	e, known := k.entries.GetIfPresent(name)
	if !known {
		return nil, false
	}
	now := k.now()
	if now >= e.expires || k.doubtful(e) {
		return nil, false
	}
	return e, now < e.freshUntil
}

// doubtful reports whether e is a false that a lying resolver may have sent.
func (k *cache) doubtful(e *entry) bool {
	return !e.found && e.err == nil && e.generation != k.generation.Load()
}

// store stores a result for its clamped TTL. A negative one, null MX included, is
// stored for at most maxNegativeTTL and never served stale: the domain may accept
// mail by then.
func (k *cache) store(name string, a result, generation uint32) *entry {
	longest, staleFor := k.maxTTL, k.staleFor
	if !a.found {
		longest, staleFor = k.maxNegativeTTL, 0
	}
	until := k.after(max(k.minTTL, min(a.ttl, longest)))
	return k.set(name, entry{found: a.found, exchanges: a.exchanges, fallback: a.fallback, generation: generation, freshUntil: until, expires: until + int64(staleFor)})
}

// storeFailure stores a failure for failureTTL (RFC 9520 section 3.2). If there
// is a stale result that has not expired, it is stored instead and counts as
// fresh until the next refresh is due.
func (k *cache) storeFailure(name string, err *Error, stale *entry) *entry {
	if stale != nil && k.now() < stale.expires {
		again := *stale
		again.stale, again.freshUntil = true, k.after(k.recheck)
		return k.set(name, again)
	}
	until := k.after(k.failureTTL)
	return k.set(name, entry{err: err, freshUntil: until, expires: until})
}

// set stores e under a copy of name, which may be a substring of a request's body.
func (k *cache) set(name string, e entry) *entry {
	k.entries.Set(strings.Clone(name), &e)
	return &e
}

func (k *cache) after(d time.Duration) int64 { return k.now() + min(int64(d), math.MaxInt64/4) }

func (k *cache) now() int64 { return k.clock.NowNano() }

func (k *cache) size() int { return k.entries.EstimatedSize() }

// close ends the goroutines of the entries and of the clock.
func (k *cache) close() {
	k.entries.StopAllGoroutines()
	k.stopClock()
}
