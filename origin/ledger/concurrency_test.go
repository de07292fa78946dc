package ledger

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// together runs work in n goroutines and waits for them.
func together(n int, work func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { work(i) })
	}
	all.Wait()
}

// N points, sixteen buyers, each until it is refused: exactly N are sold, and
// no two buyers are told the same total.
func TestConcurrentChargesSellEachPointOnce(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		const points = 400
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(points)})
		var told sync.Map
		var sold atomic.Int64
		together(16, func(int) {
			for {
				a, err := b.Admit(b.ctx, Request{Key: b.secret, Points: 1})
				if err != nil || a.Verdict != Admitted {
					require.NoError(b, err)
					require.Equal(b, Insufficient, a.Verdict)
					return
				}
				sold.Add(1)
				_, twice := told.LoadOrStore(a.Usage.Current, true)
				require.False(b, twice)
			}
		})
		require.EqualValues(t, points, sold.Load())
		require.EqualValues(t, points, b.used())
		require.Equal(t, Tally{Points: points, Requests: points + 16, Errors: 16}, b.history())
		require.Greater(t, b.Stats().Largest, 1, "they were committed together")
	})
}

// Batches of every size, refunds, failures and callers that give up at any
// moment: what the ledger holds in the end is what was answered, to the point.
func TestConcurrentRefundsAddUp(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Plan: "pro", Rate: limit(Unlimited), Points: limit(2000)})
		second, key, err := b.CreateKey(b.ctx, b.account, "second")
		require.NoError(t, err)
		var paid [2]atomic.Int64 // by key
		together(8, func(i int) {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range 60 {
				which := random.IntN(2)
				r := Request{Key: [...]string{b.secret, second}[which], Points: 1 + random.Int64N(64)}
				paid[which].Add(b.impatient(random, r))
			}
		})
		b.rest()
		days, err := b.UsageHistory(b.ctx, b.account, 0, 1_000_000)
		require.NoError(t, err)
		require.Len(t, days, 2)
		byKey := map[int64]int64{days[0].Key: days[0].Points, days[1].Key: days[1].Points}
		require.Equal(t, map[int64]int64{b.key.ID: paid[0].Load(), key.ID: paid[1].Load()}, byKey)
		require.Equal(t, paid[0].Load()+paid[1].Load(), b.used())
	})
}

// impatient sends a request, may give up on it, may fail it or give part of it
// back, and returns what it had to pay.
func (b *bench) impatient(random *rand.Rand, r Request) int64 {
	ctx, cancel := context.WithTimeout(b.ctx, time.Duration(random.IntN(3000))*time.Microsecond)
	defer cancel()
	a, err := b.Admit(ctx, r)
	if err != nil {
		require.ErrorIs(b, err, context.DeadlineExceeded)
		return 0
	}
	s := Settlement{Refund: random.Int64N(r.Points + 1), Failed: random.IntN(4) == 0}
	if _, err = b.Settle(ctx, a, s); err != nil {
		require.ErrorIs(b, err, context.DeadlineExceeded)
		return 0 // the ledger gives all of it back
	}
	if s.Failed {
		return 0
	}
	return r.Points - s.Refund
}

// rest waits until nothing is under way and nothing is owed. A request with an
// unknown key passes through the writer behind all others and changes nothing.
func (b *bench) rest() {
	b.Helper()
	b.send(Request{Key: NewKey(), Points: 1})
	require.Eventually(b, func() bool { return b.Stats().OwedCharges == 0 }, 10*time.Second, time.Millisecond)
}

// One bucket for all of an account's keys, however many ask at once.
func TestConcurrentRequestsShareOneBucket(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		const rate = 25
		b := begin(t, url, Terms{Rate: limit(rate), Points: limit(Unlimited)})
		for range 3 {
			var admitted atomic.Int64
			together(16, func(int) {
				secret, _, err := b.CreateKey(b.ctx, b.account, "one of many")
				require.NoError(b, err)
				for range 5 {
					a, err := b.Admit(b.ctx, Request{Key: secret, Points: 1})
					require.NoError(b, err)
					if a.Verdict == Admitted {
						admitted.Add(1)
					}
				}
			})
			require.EqualValues(t, rate, admitted.Load())
			b.clock.advance(time.Second)
		}
	})
}

// Of many requests with one idempotency key one is charged and the others wait
// for its answer.
func TestConcurrentRetriesAreChargedOnce(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		var admitted, replayed atomic.Int64
		together(16, func(int) {
			for {
				a, err := b.Admit(b.ctx, b.once(1, 1))
				require.NoError(b, err)
				switch a.Verdict {
				case Admitted:
					admitted.Add(1)
					_, err := b.Settle(b.ctx, a, Settlement{Answer: []byte("answer")})
					require.NoError(b, err)
					return
				case Replayed:
					replayed.Add(1)
					require.Equal(b, "answer", string(a.Replay))
					return
				}
				require.Equal(b, IdempotencyConflict, a.Verdict)
			}
		})
		require.EqualValues(t, 1, admitted.Load())
		require.EqualValues(t, 15, replayed.Load())
		require.EqualValues(t, 5, b.used())
	})
}
