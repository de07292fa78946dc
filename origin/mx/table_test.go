package mx

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzTable does what bytes say with a table and with a map, and compares them.
func FuzzTable(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x80\x81\x04\x05\x00"))
	f.Add([]byte("\x10\x11\x12\x13\x90\x14\x15\x16\x90\x17"))
	f.Fuzz(func(t *testing.T, steps []byte) {
		const limit = 5
		table, stored := newTable(limit), map[string]int64{}
		for n, step := range steps {
			name := fmt.Sprint(step & 0x1f)
			if step&0x80 == 0 {
				table.set(name, entry{freshUntil: int64(n), expires: int64(step&0x20) * 1000}, 1)
				stored[name] = int64(n)
			} else if it := table.get(name); it != nil {
				require.Equal(t, stored[name], it.freshUntil, "the last entry of the name")
			}
			requireLinked(t, table)
			require.Equal(t, min(limit, len(stored)), table.size())
		}
	})
}

// requireLinked requires that buckets and sieve have the same items, and that the sieve
// has the same in both directions.
func requireLinked(t testing.TB, table *table) {
	var newer *item
	n := 0
	for it := table.order.newest; it != nil; it = it.older {
		require.Same(t, it, table.find(it.name).Load())
		require.Same(t, newer, it.newer)
		newer = it
		n++
	}
	require.Same(t, newer, table.order.oldest)
	require.Equal(t, table.count, n)
	for i := range table.buckets {
		for it := table.buckets[i].Load(); it != nil; it = it.next.Load() {
			n--
		}
	}
	require.Zero(t, n)
}

// Names that are read between many that are stored once stay.
func TestTableKeepsWhatIsRead(t *testing.T) {
	const limit, often = 1000, 200
	table := newTable(limit)
	for i := range 20 * limit {
		if i < often {
			table.set(fmt.Sprint("often ", i), entry{expires: 2}, 1)
		}
		table.set(fmt.Sprint("once ", i), entry{expires: 2}, 1)
		require.NotNil(t, table.get(fmt.Sprint("often ", i%often/2)))
	}
	require.Equal(t, limit, table.size())
	for i := range often / 2 {
		require.NotNil(t, table.get(fmt.Sprint("often ", i)))
	}
}

func TestTableRemovesExpiredFirst(t *testing.T) {
	table := newTable(2)
	table.set("expired", entry{expires: 5}, 1)
	table.set("fresh", entry{expires: 9}, 1)
	table.get("expired")
	table.set("new", entry{expires: 9}, 5)
	require.Nil(t, table.get("expired"))
	require.NotNil(t, table.get("fresh"))
	require.NotNil(t, table.get("new"))
}

// If all items were read, finding one to remove takes a bounded time.
func TestVictimIsBounded(t *testing.T) {
	const limit = 4 * maxExamined
	table := newTable(limit)
	for i := range limit {
		table.set(fmt.Sprint(i), entry{expires: 2}, 1)
		table.get(fmt.Sprint(i))
	}
	table.set("new", entry{expires: 2}, 1)
	require.Equal(t, limit, table.size())
	unused := 0
	for it := table.order.oldest; it != nil; it = it.newer {
		if !it.used.Load() {
			unused++
		}
	}
	require.Equal(t, maxExamined, unused, "those examined, less the one that left, and the new one")
}

// For the race detector: readers see entries of the name that they asked for. If no name
// has to leave, they always find one that is stored, although its entry and its
// neighbours are replaced meanwhile.
func TestTableConcurrently(t *testing.T) {
	const limit = 64
	for _, names := range []int64{limit - 1, 3 * limit} {
		table := newTable(limit)
		table.buckets = table.buckets[:4] // long chains
		table.set("kept", entry{expires: 1 << 40}, 1)
		var all sync.WaitGroup
		for worker := range int64(8) {
			all.Go(func() {
				for i := range int64(20_000) {
					n := (i*5 + worker*31) % names // 5 divides neither number of names
					if worker < 3 {
						table.set(fmt.Sprint(n), entry{freshUntil: n, expires: 1 << 40}, 1)
						table.set("kept", entry{expires: 1 << 40}, 1)
					} else if it := table.get(fmt.Sprint(n)); it != nil && it.freshUntil != n {
						t.Error("the entry of another name")
					}
					if names < limit && table.get("kept") == nil {
						t.Error("a name that never leaves is not found")
					}
				}
			})
		}
		all.Wait()
		requireLinked(t, table)
		require.Equal(t, limit, table.size())
	}
}
