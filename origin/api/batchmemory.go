package api

import "sync"

// A batchMemory holds the items of a batch and their JSON until the answer is
// written, which copies them.
type batchMemory struct {
	items []item
	json  []byte
}

// usualJSON is more than the JSON of a usual address has, in bytes.
const usualJSON = 384

// large is the number of addresses from which a batch uses the memory of an earlier
// one. Smaller ones may not, or those that wait for DNS would hold more memory than
// they reserved.
const large = maxUnique / 2

var batchMemories = sync.Pool{New: func() any { return newBatchMemory(maxUnique) }}

func newBatchMemory(size int) *batchMemory {
	return &batchMemory{make([]item, size), make([]byte, size*usualJSON)}
}

// takeBatchMemory returns zero items for size addresses.
func takeBatchMemory(size int) *batchMemory {
	if size < large {
		return newBatchMemory(size)
	}
	m := batchMemories.Get().(*batchMemory)
	m.items = m.items[:size]
	return m
}

// release lets another batch use m. No item may be used afterwards.
func (m *batchMemory) release() {
	clear(m.items)
	if cap(m.items) == maxUnique {
		batchMemories.Put(m)
	}
}

// share returns the items from start up to end, and an empty buffer with the room of
// their JSON.
func (m *batchMemory) share(start, end int) ([]item, []byte) {
	return m.items[start:end], m.json[start*usualJSON : start*usualJSON : end*usualJSON]
}
