package limit

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// slots is a Config of lookup slots.
var slots = Config{Units: 256, PerOwner: 64, Waiting: 8192, WaitingPerOwner: 1024, Small: 1}

// held returns whether a take of n units has them at once. It waits otherwise.
func held[Owner comparable](t testing.TB, l *Limiter[Owner], owner Owner, n int) bool {
	t.Helper()
	waits, err := l.enter(owner, n)
	require.NoError(t, err)
	return waits == nil
}

func TestOwnerAlone(t *testing.T) {
	l := New[int](slots)
	for range 300 {
		held(t, l, 1, 1)
	}
	require.Equal(t, 64, l.units.held[1])
	require.Equal(t, 236, l.Waiting())
	all := New[int](Config{Units: 8, PerOwner: 8})
	for range 8 {
		require.True(t, held(t, all, 1, 1), "without shares an owner may have all")
	}
}

// If any number of owners take all they can get, at once or one after the other, the next one
// is served at once.
func TestServesNextOwner(t *testing.T) {
	for _, greedy := range []int{1, 2, 4, 5, 8, 20, 100, 255} {
		l := New[int](Config{Units: 256, PerOwner: 64, Waiting: 1 << 20, WaitingPerOwner: 1 << 10, Small: 1})
		for range 100 {
			for owner := range greedy {
				held(t, l, owner, 1)
			}
		}
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
}

// Owners are served in turn, and the takes of one in their order.
func TestOrder(t *testing.T) {
	l := New[int](Config{Units: 1, PerOwner: 1, Waiting: 1000, WaitingPerOwner: 1000})
	held(t, l, 9, 1)
	var waiting []*take[int]
	names := map[*take[int]]string{}
	for owner := range 3 {
		for n := range owner + 2 {
			w, err := l.enter(owner, 1)
			require.NoError(t, err)
			waiting, names[w] = append(waiting, w), fmt.Sprintf("%d%d ", owner, n)
		}
	}
	order, last := "", 9
	for range len(waiting) {
		l.Free(last, 1)
		for _, w := range waiting {
			select {
			case <-w.granted:
				order += names[w]
				last = w.queue.owner
				delete(names, w)
				w.granted = nil // not again
			default:
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
	require.True(t, l.leave(large))
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
	_, err = New[int](Config{Units: 1, PerOwner: 1}).enter(1, 1)
	require.NoError(t, err)
	none := New[int](Config{Units: 9, PerOwner: 3})
	for range 3 {
		require.True(t, held(t, none, 1, 1))
	}
	_, err = none.enter(1, 1)
	require.ErrorIs(t, err, ErrAll, "nothing waits where nothing may")
}

// Large takes leave the last units to small ones, which do not wait behind them.
func TestLargeTakesBlockNoSmallOne(t *testing.T) {
	l := New[string](Config{Units: 100, PerOwner: 60, Waiting: 10, WaitingPerOwner: 5, Small: 5, Reserved: 25})
	require.True(t, held(t, l, "a", 30))
	require.True(t, held(t, l, "b", 20))
	require.True(t, held(t, l, "c", 15))
	require.True(t, held(t, l, "d", 10))
	require.Equal(t, 25, l.units.free)
	require.False(t, held(t, l, "e", 6), "the reserve is for small ones")
	require.True(t, held(t, l, "e", 5), "also of an owner with a large one that waits")
	require.False(t, held(t, l, "f", 8))
	for n := range 20 {
		require.True(t, held(t, l, fmt.Sprint(n), 1))
	}
	require.Zero(t, l.units.free)
	l.Free("a", 30)
	require.Equal(t, 30, l.units.free, "a large take does not get what leaves too little")
	l.Free("b", 20)
	require.Equal(t, []int{11, 8}, []int{l.units.held["e"], l.units.held["f"]})
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
		require.Equal(t, 2, l.Waiting())
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
	var mu sync.Mutex
	holding := 0
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
					mu.Lock()
					holding += n
					mu.Unlock()
					mu.Lock()
					if holding > 12 {
						t.Errorf("%d of 12 units are held", holding)
					}
					holding -= n
					mu.Unlock()
					l.Free(worker%6, n)
				}
				cancel()
			}
		})
	}
	all.Wait()
	requireEmpty(t, l)
}

func requireEmpty[Owner comparable](t testing.TB, l *Limiter[Owner]) {
	t.Helper()
	require.Equal(t, l.units.size, l.units.free)
	require.Equal(t, l.places.size, l.places.free)
	require.Empty(t, l.units.held)
	require.Empty(t, l.places.held)
	require.Empty(t, l.queues)
	require.Empty(t, l.line)
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
	f.Fuzz(func(t *testing.T, steps []byte) {
		s := &story{t: t, Limiter: New[int](Config{Units: 12, PerOwner: 4, Waiting: 24, WaitingPerOwner: 9, Small: 1, Reserved: 3})}
		for _, step := range steps[:min(most, len(steps))] {
			s.step(step)
			s.requireConsistent()
		}
		for len(s.holding) > 0 {
			s.Free(s.holding[0].owner, s.holding[0].n)
			s.holding = s.holding[1:]
			s.collect()
		}
		requireEmpty(t, s.Limiter)
	})
}

// story is a Limiter and its takes.
type story struct {
	*Limiter[int]
	t       *testing.T
	waiting []*take[int]
	holding []holder
}

type holder struct{ owner, n int }

// step has one of 8 owners take 1 to 3 units, or ends a take or a wait.
func (s *story) step(step byte) {
	owner, n, which := int(step&7), 1+int(step>>3&7)%3, int(step>>3&7)
	switch what := step >> 6; {
	case what == 2 && len(s.holding) > which:
		h := s.holding[which]
		s.holding = append(s.holding[:which:which], s.holding[which+1:]...)
		s.Free(h.owner, h.n)
	case what == 3 && len(s.waiting) > which:
		require.True(s.t, s.leave(s.waiting[which]))
		s.waiting = append(s.waiting[:which:which], s.waiting[which+1:]...)
	default:
		free, before := s.units.free, s.units.held[owner]
		w, err := s.enter(owner, n)
		switch {
		case w != nil:
			s.waiting = append(s.waiting, w)
		case err == nil:
			s.holding = append(s.holding, holder{owner, n})
			if before+n > min(4, (free+2)/3) || n > 1 && free-n < 3 {
				s.t.Fatalf("owner %d has %d units and takes %d of %d", owner, before, n, free)
			}
		}
	}
	s.collect()
}

// collect moves the takes that were granted.
func (s *story) collect() {
	var waiting []*take[int]
	for _, w := range s.waiting {
		select {
		case <-w.granted:
			s.holding = append(s.holding, holder{w.queue.owner, w.units})
		default:
			waiting = append(waiting, w)
		}
	}
	s.waiting = waiting
}

func (s *story) requireConsistent() {
	held, total := map[int]int{}, 0
	for _, h := range s.holding {
		held[h.owner] += h.n
		total += h.n
	}
	places := map[int]int{}
	for _, w := range s.waiting {
		places[w.queue.owner]++
	}
	if !maps.Equal(held, s.units.held) || total != 12-s.units.free || !maps.Equal(places, s.places.held) || len(s.waiting) != 24-s.places.free {
		s.t.Fatalf("%v hold %d units of %v, %v wait in %d places of %v", held, total, s.units, places, len(s.waiting), s.places)
	}
	for _, q := range s.line {
		if s.units.allows(q.owner, q.takes[0].units, q.reserved) {
			s.t.Fatalf("owner %d waits for what it may have", q.owner)
		}
	}
	if s.units.free > 0 && !s.units.allows(99, 1, 0) {
		s.t.Fatal("an owner that has none gets none, although some are free")
	}
}
