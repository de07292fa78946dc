package limit

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// held returns whether a take of n units has them at once. It waits otherwise.
func held[Owner comparable](t testing.TB, l *Limiter[Owner], owner Owner, n int) bool {
	t.Helper()
	waits, err := l.enter(owner, n)
	require.NoError(t, err)
	return waits == nil
}

// If any number of owners take all they can get, at once or one after the other, the next one
// is served at once.
func TestServesNextOwner(t *testing.T) {
	slots := Config{Units: 256, PerOwner: 64, Waiting: 1 << 20, WaitingPerOwner: 1 << 10, Small: 1}
	for _, greedy := range []int{1, 2, 4, 5, 8, 20, 100, 255} {
		l := New[int](slots)
		for range 100 {
			for owner := range greedy {
				held(t, l, owner, 1)
			}
		}
		require.LessOrEqual(t, l.Held(0), 64)
		require.GreaterOrEqual(t, l.units.free, 256/(greedy+1)-1, "%d owners", greedy)
		require.NotZero(t, l.units.free)
		require.True(t, held(t, l, -1, 1), "%d owners", greedy)
	}
	l, left := New[int](slots), 256.0
	for owner := range 15 {
		for range 100 {
			held(t, l, owner, 1)
		}
		left *= 0.75
		require.InDelta(t, left, l.units.free, 3, "after %d owners", owner+1)
	}
	all := New[int](Config{Units: 8, PerOwner: 8})
	for range 8 {
		require.True(t, held(t, all, 1, 1), "without shares an owner may have all")
	}
}

// Owners are served in turn, and the takes of one in their order.
func TestOrder(t *testing.T) {
	l := New[int](Config{Units: 1, PerOwner: 1, Waiting: 1000, WaitingPerOwner: 1000})
	held(t, l, 9, 1)
	names := map[*take[int]]string{}
	for owner := range 3 {
		for n := range owner + 2 {
			w, err := l.enter(owner, 1)
			require.NoError(t, err)
			names[w] = fmt.Sprintf("%d%d ", owner, n)
		}
	}
	order, last := "", 9
	for len(names) > 0 {
		before := slices.Clone(l.waiting)
		l.Free(last, 1)
		for _, w := range before {
			if !slices.Contains(l.waiting, w) {
				<-w.granted
				order += names[w]
				last = w.owner
				delete(names, w)
			}
		}
	}
	require.Equal(t, "00 10 20 01 11 21 12 22 23 ", order)
	l.Free(last, 1)
	requireEmpty(t, l)

	l = New[int](Config{Units: 4, PerOwner: 4, Waiting: 9, WaitingPerOwner: 9})
	held(t, l, 1, 2)
	large, err := l.enter(2, 3)
	require.NoError(t, err)
	held(t, l, 2, 2)
	require.Zero(t, l.Held(2), "it waits behind the large one")
	require.ErrorIs(t, l.leave(large, context.Canceled), context.Canceled)
	require.Equal(t, 2, l.Held(2))
}

func TestWaitingIsBounded(t *testing.T) {
	l := New[int](Config{Units: 1, PerOwner: 1, Waiting: 3, WaitingPerOwner: 2})
	held(t, l, 0, 1)
	held(t, l, 1, 1)
	_, err := l.enter(1, 1)
	require.ErrorIs(t, err, ErrOwner, "a third of the places that are free")
	held(t, l, 2, 1)
	held(t, l, 3, 1)
	_, err = l.enter(4, 1)
	require.ErrorIs(t, err, ErrAll)
	require.Equal(t, 3, l.Waiting())
	none := New[int](Config{Units: 9, PerOwner: 3})
	require.True(t, held(t, none, 1, 3))
	_, err = none.enter(1, 1)
	require.ErrorIs(t, err, ErrAll, "nothing waits where nothing may")
}

// Large takes leave the last units to small ones, which do not wait behind them.
func TestLargeTakesBlockNoSmallOne(t *testing.T) {
	l := New[string](Config{Units: 100, PerOwner: 60, Waiting: 10, WaitingPerOwner: 5, Small: 5, Reserved: 25})
	for owner, n := range []int{30, 20, 15, 10} {
		require.True(t, held(t, l, fmt.Sprint("large", owner), n))
	}
	require.Equal(t, 25, l.units.free)
	require.False(t, held(t, l, "e", 6), "the reserve is for small ones")
	require.True(t, held(t, l, "e", 5), "also of an owner with a large one that waits")
	require.False(t, held(t, l, "f", 8))
	for n := range 20 {
		require.True(t, held(t, l, fmt.Sprint(n), 1))
	}
	require.Zero(t, l.units.free)
	l.Free("large0", 30)
	require.Equal(t, 30, l.units.free, "a large take does not get what leaves too little")
	l.Free("large1", 20)
	require.Equal(t, []int{11, 8}, []int{l.Held("e"), l.Held("f")})
	require.Zero(t, l.Waiting())
	for _, n := range []int{76, 35} {
		_, err := l.enter("g", n)
		require.ErrorIs(t, err, ErrLarge, "%d can never be had", n)
	}
}

func TestTakeWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New[int](Config{Units: 1, PerOwner: 1, Waiting: 9, WaitingPerOwner: 9})
		require.NoError(t, l.Take(t.Context(), 1, 1))
		ctx, leave := context.WithCancel(t.Context())
		left, stays := make(chan error), make(chan error)
		go func() { left <- l.Take(ctx, 2, 1) }()
		synctest.Wait()
		go func() { stays <- l.Take(t.Context(), 3, 1) }()
		synctest.Wait()
		leave()
		require.ErrorIs(t, <-left, context.Canceled)
		l.Free(1, 1)
		require.NoError(t, <-stays, "the one that left is passed over")
		l.Free(3, 1)
		requireEmpty(t, l)
		require.NoError(t, l.Take(ctx, 4, 1), "what is free needs no wait, also after the end of ctx")
	})
}

// For the race detector: never more is held than there is, and all is free in the end.
func TestConcurrentTakes(t *testing.T) {
	l := New[int](Config{Units: 12, PerOwner: 5, Waiting: 100, WaitingPerOwner: 100, Small: 1, Reserved: 3})
	var holding, most atomic.Int64
	var all sync.WaitGroup
	for worker := range 16 {
		all.Go(func() {
			for i := range 500 {
				n := 1 + i%3
				ctx, cancel := context.WithCancel(t.Context())
				if i%5 == 0 {
					go cancel()
				}
				if l.Take(ctx, worker%6, n) == nil {
					if now := holding.Add(int64(n)); now > 12 {
						most.Store(now)
					}
					holding.Add(int64(-n))
					l.Free(worker%6, n)
				}
				cancel()
			}
		})
	}
	all.Wait()
	require.Zero(t, most.Load(), "of 12 units")
	requireEmpty(t, l)
}

func requireEmpty[Owner comparable](t testing.TB, l *Limiter[Owner]) {
	t.Helper()
	require.Equal(t, l.units.size, l.units.free)
	require.Equal(t, l.places.size, l.places.free)
	require.Empty(t, l.units.held)
	require.Empty(t, l.places.held)
	require.Empty(t, l.waiting)
}

// FuzzLimiter checks after any sequence of events that the counts are those of the takes, that no
// share and no reserve is exceeded when units are granted, and that nothing waits for what may be
// had. In the end all is free.
func FuzzLimiter(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 64, 65, 128, 129, 130, 192, 193})
	const most = 128 // steps
	seed := make([]byte, most)
	for n := range seed {
		seed[n] = byte(rand.N(256))
	}
	f.Add(seed)
	type holder struct{ owner, n int }
	f.Fuzz(func(t *testing.T, steps []byte) {
		l := New[int](Config{Units: 12, PerOwner: 4, Waiting: 24, WaitingPerOwner: 9, Small: 1, Reserved: 3})
		var holding []holder
		for n := range min(most, len(steps)) {
			// One of 8 owners takes 1 to 3 units, or a take or a wait ends.
			step, before := steps[n], slices.Clone(l.waiting)
			owner, which := int(step&7), int(step>>3&7)
			units := 1 + which%3
			switch what := step >> 6; {
			case what == 2 && len(holding) > which:
				ends := holding[which]
				holding = slices.Delete(holding, which, which+1)
				l.Free(ends.owner, ends.n)
			case what == 3 && len(before) > which:
				require.ErrorIs(t, l.leave(before[which], context.Canceled), context.Canceled)
				before = slices.Delete(before, which, which+1)
			default:
				free, had := l.units.free, l.Held(owner)
				if w, err := l.enter(owner, units); w == nil && err == nil {
					holding = append(holding, holder{owner, units})
					require.False(t, had+units > min(4, (free+2)/3) || units > 1 && free-units < 3,
						"owner %d has %d units and takes %d of %d", owner, had, units, free)
				}
			}
			for _, w := range before {
				if !slices.Contains(l.waiting, w) {
					holding = append(holding, holder{w.owner, w.units})
				}
			}
			sum, places, total := 0, map[int]int{}, map[int]int{}
			for _, h := range holding {
				sum, total[h.owner] = sum+h.n, total[h.owner]+h.n
			}
			first := map[class[int]]bool{}
			for _, w := range l.waiting {
				places[w.owner]++
				require.False(t, !first[w.class] && l.units.allows(w.owner, w.units, w.reserved), "owner %d waits for what it may have", w.owner)
				first[w.class] = true
			}
			require.True(t, maps.Equal(total, l.units.held) && sum == 12-l.units.free, "%v hold %d units of %v", total, sum, l.units)
			require.True(t, maps.Equal(places, l.places.held) && len(l.waiting) == 24-l.places.free, "%v wait in %v", places, l.places)
			require.True(t, l.units.free == 0 || l.units.allows(99, 1, 0), "an owner that has none gets none, although some are free")
		}
		for len(holding) > 0 {
			before, ends := slices.Clone(l.waiting), holding[0]
			holding = holding[1:]
			l.Free(ends.owner, ends.n)
			for _, w := range before {
				if !slices.Contains(l.waiting, w) {
					holding = append(holding, holder{w.owner, w.units})
				}
			}
		}
		requireEmpty(t, l)
	})
}
