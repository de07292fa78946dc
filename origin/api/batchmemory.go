package api

import "sync"

// A batchMemory holds the items of a batch and their JSON until the answer is
// written, which copies them.
type batchMemory struct {
	items []item
	json  [maxUnique / share]*shareJSON // of each share; nil before its first address is checked
}

// A shareJSON has room for the JSON of a share. It is used again, and only taken once an
// instance is there, or the batches that wait for one would hold most of the memory.
type shareJSON [share * usualJSON]byte

// usualJSON is more than the JSON of a usual address has, in bytes.
const usualJSON = 384

var shareJSONs = sync.Pool{New: func() any { return new(shareJSON) }}

// room returns an empty buffer for the JSON of size addresses from number start on, a
// share's first. Fewer than a share have one of their own, so that a batch of few
// addresses that waits for DNS holds no more memory than it needs.
func (m *batchMemory) room(start, size int) []byte {
	if size < share {
		return make([]byte, 0, size*usualJSON)
	}
	json := shareJSONs.Get().(*shareJSON)
	m.json[start/share] = json
	return json[:0]
}

// release lets other batches use the JSON's memory. No item may be used afterwards.
func (m *batchMemory) release() {
	for n, json := range m.json {
		if json != nil {
			shareJSONs.Put(json)
			m.json[n] = nil
		}
	}
}
