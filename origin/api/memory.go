package api

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/limit"
)

// The memory of requests in progress is one budget: bodies, results, lookups and responses. An account
// has at most a quarter of it (package limit). A request takes bytes as they arrive, whatever
// Content-Length announces, and frees all of them once its response is sent. The last quarter of the
// budget is for steps of less than memoryStep, so that large bodies, even slow ones, never block a GET.
const (
	// DefaultMemory is the default budget in bytes.
	DefaultMemory = 64 << 20
	// MinMemory is the least budget in bytes: with it, one account has room for the longest body and
	// all that a batch of it may need.
	MinMemory = 20 << 20

	memoryStep = 64 << 10
	memoryWait = time.Second // for others to free bytes

	maxWaiting = 1 << 12 // requests that wait for memory, and of one account
	maxWaitOne = 1 << 10
)

// What a request holds besides its body until its response is sent, in bytes. BenchmarkMemoryOfWaiting
// measures it, without the connection's own 10 KiB: a request that waits for DNS held 16.4 KB, most of
// it the handler's stack; each lookup in a goroutine of its own 4.8 KB more; and 64 addresses with their
// results 44 to 50 KB, with details 54 to 70 KB. The response has each result again.
const (
	waitMemory    = 16 << 10 // of a request that waits for DNS
	lookupMemory  = 5 << 10  // of each of several lookups
	addressMemory = 9 << 7   // of an address of a batch, its result and its part of the response
	detailsMemory = 3 << 9   // of the details of an address
	verdictMemory = 1 << 8   // of the verdict on an address
	// How often the addresses, their results and the response have each byte of the body, besides the body
	// itself; and each byte of a valid address, which is in three members of its result.
	bodyFactor   = 3
	validFactor  = 4
	longestValid = 254
)

// An owner is who shares the memory: an account or, before the signature is checked, a sign-up hook.
type owner struct {
	account int64
	hook    string
}

func newMemory(bytes int) *limit.Limiter[owner] {
	return limit.New[owner](limit.Config{Units: bytes, PerOwner: bytes / 4,
		Waiting: maxWaiting, WaitingPerOwner: maxWaitOne, Small: memoryStep - 1, Reserved: bytes / 4})
}

// A reservation is the memory that one request holds.
type reservation struct {
	budget  *limit.Limiter[owner]
	owner   owner
	bytes   int // taken
	used    int // of those, the bytes of the body
	buffers []*[largeBuffer]byte
}

// take takes bytes. It waits for others to free them for up to memoryWait.
func (m *reservation) take(ctx context.Context, bytes int) *wire.Problem {
	waiting, cancel := context.WithTimeout(ctx, memoryWait)
	defer cancel()
	err := m.budget.Take(waiting, m.owner, bytes)
	switch {
	case err == nil:
		m.bytes += bytes
		return nil
	case errors.Is(err, limit.ErrOwner), errors.Is(err, limit.ErrLarge), m.budget.Held(m.owner) > m.bytes:
		return wire.Limited("the bodies, results and responses of the account's requests in progress use "+
			"all the memory that an account may use; wait %s.", time.Second)
	}
	return wire.Unavailable("The requests in progress use all the memory set aside for them; nothing was charged. " +
		"Try again shortly.")
}

// grow takes the memory for a body that grows by bytes, in steps.
func (m *reservation) grow(ctx context.Context, bytes int) *wire.Problem {
	m.used += bytes
	needed := m.used
	if needed > memoryStep/4 { // a small request needs no whole step
		needed = (needed + memoryStep - 1) / memoryStep * memoryStep
	}
	if needed <= m.bytes {
		return nil
	}
	return m.take(ctx, needed-m.bytes)
}

// free frees the memory of the request and its response, which nothing may read afterwards.
func (m *reservation) free() {
	if m.bytes > 0 {
		m.budget.Free(m.owner, m.bytes)
		m.bytes, m.used = 0, 0
	}
	for _, buffer := range m.buffers {
		largeBuffers.Put(buffer)
	}
	m.buffers = nil
}

// Large batches use the buffers of earlier ones, because their garbage took a tenth of the processor time.
const largeBuffer = 32 << 10

var largeBuffers = sync.Pool{New: func() any { return new([largeBuffer]byte) }}

// buffer returns an empty buffer with room for size bytes, valid until free. It takes no memory of the
// budget.
func (m *reservation) buffer(size int) []byte {
	if size < largeBuffer/2 || size > largeBuffer {
		return make([]byte, 0, size)
	}
	buffer := largeBuffers.Get().(*[largeBuffer]byte)
	m.buffers = append(m.buffers, buffer)
	return buffer[:0]
}
