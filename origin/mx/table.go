package mx

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
)

// table maps names to entries. Reading takes no lock and, for a name that was read
// since the hand of the sieve passed, writes nothing, so readers on many cores do not
// wait for each other. A read takes half the time of one of otter, which notes reads in
// buffers.
//
// An item never changes what a reader looks at: a new entry of a name is a new item in
// its place. A reader that is at an item when that is removed goes on from there.
type table struct {
	seed    maphash.Seed // random, so that names of one bucket cannot be chosen
	buckets []atomic.Pointer[item]
	limit   int

	mu    sync.Mutex // held by writers
	order sieve
	count int
}

// item is one name and its entry.
type item struct {
	entry
	name         string
	used         atomic.Bool          // read since the hand passed
	next         atomic.Pointer[item] // in its bucket
	newer, older *item                // in sieve
}

// maxBuckets is 8 MiB of pointers. A larger table has several items in a bucket.
const maxBuckets = 1 << 20

// newTable returns a table of at most limit names.
func newTable(limit int) *table {
	buckets := min(1<<bits.Len(uint(limit-1)), maxBuckets)
	return &table{seed: maphash.MakeSeed(), buckets: make([]atomic.Pointer[item], buckets), limit: limit}
}

func (t *table) bucket(name string) *atomic.Pointer[item] {
	return &t.buckets[maphash.String(t.seed, name)&uint64(len(t.buckets)-1)]
}

// get returns the item of name, or nil.
func (t *table) get(name string) *item {
	for it := t.bucket(name).Load(); it != nil; it = it.next.Load() {
		if it.name == name {
			if !it.used.Load() {
				it.used.Store(true)
			}
			return it
		}
	}
	return nil
}

// set stores e for name. If the table is full, another name has to leave; one that has
// expired at the time of now, if the hand is there.
func (t *table) set(name string, e entry, now int64) *item {
	t.mu.Lock()
	defer t.mu.Unlock()
	link := t.find(name)
	if old := link.Load(); old != nil {
		return t.replace(link, old, e)
	}
	if t.count == t.limit {
		t.remove(t.order.victim(now))
	}
	// A copy of the name, which may be a substring of a request's body.
	it := &item{entry: e, name: strings.Clone(name)}
	first := t.bucket(name)
	it.next.Store(first.Load())
	first.Store(it)
	t.order.add(it)
	t.count++
	return it
}

// find returns the link to the item of name, or the last link of its bucket.
func (t *table) find(name string) *atomic.Pointer[item] {
	link := t.bucket(name)
	for it := link.Load(); it != nil && it.name != name; it = link.Load() {
		link = &it.next
	}
	return link
}

func (t *table) replace(link *atomic.Pointer[item], old *item, e entry) *item {
	it := &item{entry: e, name: old.name}
	it.used.Store(old.used.Load())
	it.next.Store(old.next.Load())
	t.order.replace(old, it)
	link.Store(it)
	return it
}

func (t *table) remove(it *item) {
	t.find(it.name).Store(it.next.Load())
	t.order.remove(it)
	t.count--
}

func (t *table) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}
