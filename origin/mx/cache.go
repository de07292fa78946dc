package mx

import (
	"context"
	"hash/maphash"
	"math"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

// clockResolution is how exactly the ends of TTLs are kept, which are whole seconds.
// The clock counts from its start: changes of the system's clock have no effect.
const clockResolution = 100 * time.Millisecond

// cache stores the result for each domain for its TTL, and a failure for
// failureTTL. A result of true may be served stale after its TTL.
type cache struct {
	table     *table
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
	name       string
	exchanges  string // Result.Exchanges
	err        *Error // the failure; nil for a result
	freshUntil int64  // fresh before
	expires    int64  // not served from then on
	generation uint32 // the cache's when the lookup began
	about      records
	found      bool // the domain has an exchange, or an address
	noData     bool // it exists, but has no records of these types
	stale      bool // past its TTL, served while resolvers are down; only if found
}

// result returns the result of Lookup, which is empty for a failure.
func (e *entry) result() Result {
	return Result{MX: e.found, Exchanges: e.exchanges, Fallback: e.noData}
}

func newCache(c Config) *cache {
	stopClock := func() {}
	if c.clock == nil {
		coarse := otter.NewCoarseClock(clockResolution)
		c.clock, stopClock = coarse, coarse.Stop
	}
	return &cache{
		table: newTable(c.cacheEntries), clock: c.clock, stopClock: stopClock,
		minTTL: c.MinTTL, maxTTL: c.MaxTTL, maxNegativeTTL: c.MaxNegativeTTL,
		failureTTL: c.FailureTTL, staleFor: c.staleFor, recheck: c.staleRecheck,
	}
}

// get returns the entry of s and whether it is fresh, or nil. An entry that is not
// fresh is a stale result of true.
func (k *cache) get(s subject) (e *entry, fresh bool) {
	e = k.table.get(s)
	if e == nil {
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
func (k *cache) store(s subject, a result, generation uint32) *entry {
	longest, staleFor := k.maxTTL, k.staleFor
	if !a.found {
		longest, staleFor = k.maxNegativeTTL, 0
	}
	until := k.after(max(k.minTTL, min(a.ttl, longest)))
	return k.table.set(entry{name: s.name, about: s.about, found: a.found, exchanges: a.exchanges, noData: a.noData,
		generation: generation, freshUntil: until, expires: until + int64(staleFor)})
}

// storeFailure stores a failure for failureTTL (RFC 9520 section 3.2). If there
// is a stale result that has not expired, it is stored instead and counts as
// fresh until the next refresh is due.
func (k *cache) storeFailure(s subject, err *Error, stale *entry) *entry {
	if stale != nil && k.now() < stale.expires {
		again := *stale
		again.stale, again.freshUntil = true, k.after(k.recheck)
		return k.table.set(again)
	}
	until := k.after(k.failureTTL)
	return k.table.set(entry{name: s.name, about: s.about, err: err, freshUntil: until, expires: until})
}

func (k *cache) after(d time.Duration) int64 { return k.now() + min(int64(d), math.MaxInt64/4) }

func (k *cache) now() int64 { return k.clock.NowNano() }

func (k *cache) size() int { return k.table.size() }

// forgetEvery is how long an expired entry stays in memory at most, although nothing
// else needs its place. Domains are parts of email addresses.
const forgetEvery = 10 * time.Minute

// forget removes expired entries until ctx ends.
func (k *cache) forget(ctx context.Context) {
	ticker := time.NewTicker(forgetEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			k.table.forget(k.now())
		case <-ctx.Done():
			return
		}
	}
}

// table maps subjects to entries. Reading takes no lock and, for a name that was read since
// the hand passed, writes nothing, so readers on many cores do not wait for each other.
// It takes a third of the time and, since a million names have to fit into 130 MB, half
// of the memory that it takes in otter.
//
// Entries and the bytes of their strings are bounded. If a new one has no room, others
// leave: the hand goes around the buckets and removes those that have not been read since
// it last passed (the clock algorithm, a second chance), so the domains looked up most
// often stay. After maxSteps buckets it removes the next one in any case: others wait for
// the lock, and somebody may have read all entries.
//
// An item never changes what a reader looks at: a new entry of a name is a new item in
// its place. A reader that is at an item when that is removed goes on from there.
type table struct {
	seed    maphash.Seed // random, so that names of one bucket cannot be chosen
	buckets []atomic.Pointer[item]
	limit   int // of items; that of bytes is a multiple

	mu     sync.Mutex // held by writers
	count  int
	bytes  int      // of names and exchanges
	hand   int      // the bucket where it is
	shared []string // exchanges that many domains have, such as those of mail providers
}

// item is an entry in the table.
type item struct {
	entry
	next atomic.Pointer[item] // in its bucket
	used atomic.Bool          // read since the hand passed
}

const (
	maxBuckets = 1 << 20 // 8 MiB of pointers. A larger table has several items in a bucket.
	maxShared  = 1 << 12 // at most 4 MiB of exchanges, and much less of usual ones

	// bytesPerItem is how many bytes names and exchanges have on average at most. Usual
	// ones have 60; the longest, which an attacker could publish, 1,277.
	bytesPerItem = 256

	// maxSteps is how many buckets the hand passes at most before something leaves.
	maxSteps = 1 << 10

	// maxJoined is how long a name may be that is stored in one piece with exchanges, and
	// so stays in memory as long as another domain has the same exchanges.
	maxJoined = 64
)

// newTable returns a table of at most limit items.
func newTable(limit int) *table {
	buckets := min(1<<bits.Len(uint(limit-1)), maxBuckets)
	return &table{
		seed: maphash.MakeSeed(), limit: limit,
		buckets: make([]atomic.Pointer[item], buckets), shared: make([]string, min(buckets, maxShared)),
	}
}

func (t *table) bucket(name string) *atomic.Pointer[item] {
	return &t.buckets[maphash.String(t.seed, name)&uint64(len(t.buckets)-1)]
}

// get returns the entry of s, or nil.
func (t *table) get(s subject) *entry {
	for it := t.bucket(s.name).Load(); it != nil; it = it.next.Load() {
		if it.is(s) {
			if !it.used.Load() {
				it.used.Store(true)
			}
			return &it.entry
		}
	}
	return nil
}

func (e *entry) is(s subject) bool { return e.name == s.name && e.about == s.about }

// set stores e.
func (t *table) set(e entry) *entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := subject{e.name, e.about}
	e.name, e.exchanges = t.keep(e.name, e.exchanges)
	it := &item{entry: e}
	if link := t.find(s); link.Load() != nil {
		t.replace(link, it)
		t.makeRoom(0, 0)
		return &it.entry
	}
	t.makeRoom(1, it.bytes())
	t.find(s).Store(it)
	t.count, t.bytes = t.count+1, t.bytes+it.bytes()
	return &it.entry
}

// find returns the link to the item of s, or the last link of its bucket.
func (t *table) find(s subject) *atomic.Pointer[item] {
	link := t.bucket(s.name)
	for it := link.Load(); it != nil && !it.is(s); it = link.Load() {
		link = &it.next
	}
	return link
}

func (t *table) replace(link *atomic.Pointer[item], it *item) {
	old := link.Load()
	it.used.Store(old.used.Load())
	it.next.Store(old.next.Load())
	link.Store(it)
	t.bytes += it.bytes() - old.bytes()
}

// bytes counts shared exchanges for each domain, since any domain may be the last that
// has them.
func (it *item) bytes() int { return len(it.name) + len(it.exchanges) }

// makeRoom moves the hand until there is room for more items and bytes.
func (t *table) makeRoom(items, bytes int) {
	isFull := func() bool {
		return t.count > 0 && (t.count+items > t.limit || t.bytes+bytes > t.limit*bytesPerItem)
	}
	for step := 0; isFull(); step++ {
		t.removeFrom(&t.buckets[t.hand], func(it *item) bool {
			return isFull() && (!it.used.Swap(false) || step >= maxSteps)
		})
		t.hand = (t.hand + 1) % len(t.buckets)
	}
}

// removeFrom removes the items of a bucket that leave.
func (t *table) removeFrom(link *atomic.Pointer[item], leaves func(*item) bool) {
	for it := link.Load(); it != nil; it = link.Load() {
		if !leaves(it) {
			link = &it.next
			continue
		}
		link.Store(it.next.Load())
		t.count, t.bytes = t.count-1, t.bytes-it.bytes()
	}
}

// forget removes the entries that have expired at the time of now, and lets other
// writers in between.
func (t *table) forget(now int64) {
	t.mu.Lock()
	clear(t.shared) // they are parts of strings that have a name too
	t.mu.Unlock()
	for i := range t.buckets {
		t.mu.Lock()
		t.removeFrom(&t.buckets[i], func(it *item) bool { return it.expires <= now })
		t.mu.Unlock()
	}
}

// keep returns copies of name and exchanges in as little memory as possible: neither may
// be part of a request's body or of a DNS message. A name that is part of its own
// exchanges, as in mail.example.com, needs no bytes of its own, and exchanges that were
// stored lately need no more.
func (t *table) keep(name, exchanges string) (string, string) {
	if exchanges == "" {
		return strings.Clone(name), ""
	}
	if at := strings.Index(exchanges, name); at >= 0 {
		exchanges = strings.Clone(exchanges)
		return exchanges[at : at+len(name)], exchanges
	}
	shared := &t.shared[maphash.String(t.seed, exchanges)%uint64(len(t.shared))]
	if *shared == exchanges {
		return strings.Clone(name), *shared
	}
	if len(name) > maxJoined {
		*shared = strings.Clone(exchanges)
		return strings.Clone(name), *shared
	}
	both := name + exchanges
	*shared = both[len(name):]
	return both[:len(name)], *shared
}

func (t *table) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}
