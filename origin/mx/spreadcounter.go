package mx

import (
	"math/rand/v2"
	"sync/atomic"
)

// A spreadCounter counts events on many cores. One number would go from core to core
// with each event, which takes longer than the look-up in the cache that it counts.
type spreadCounter struct {
	parts [16]struct {
		atomic.Uint64
		_ [cacheLine - 8]byte // so that no two parts share a line
	}
}

// cacheLine is the size of a processor's cache line in bytes, or a multiple of it.
const cacheLine = 128

func (c *spreadCounter) add() { c.parts[rand.Uint32()%uint32(len(c.parts))].Add(1) }

func (c *spreadCounter) load() (sum uint64) {
	for n := range c.parts {
		sum += c.parts[n].Load()
	}
	return sum
}
