package ledger

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// replicas begins n ledgers on one database; the bench's own is the first.
func replicas(t *testing.T, url string, terms Terms, n int) (*bench, []*Ledger) {
	b := begin(t, url, terms)
	list := []*Ledger{b.Ledger}
	for len(list) < n {
		list = append(list, open(t, url, WithClock(b.clock.Now)))
	}
	return b, list
}

// Three replicas, each with buyers of its own, sell N points exactly.
func TestReplicasSellEachPointOnce(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		const points = 300
		b, list := replicas(t, url, Terms{Rate: limit(Unlimited), Points: limit(points)}, 3)
		var told sync.Map
		var sold atomic.Int64
		together(16, func(i int) {
			for {
				a, err := list[i%len(list)].Admit(b.ctx, Request{Key: b.secret, Points: 1})
				require.NoError(b, err)
				if a.Verdict == Insufficient {
					return
				}
				require.Equal(b, Admitted, a.Verdict)
				sold.Add(1)
				_, twice := told.LoadOrStore(a.Usage.Current, true)
				require.False(b, twice)
			}
		})
		require.EqualValues(t, points, sold.Load())
		require.EqualValues(t, points, b.used())
		require.EqualValues(t, points, b.history().Points)
	})
}

// The rate is the account's, not the replica's.
func TestReplicasShareOneBucket(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		const rate = 20
		b, list := replicas(t, url, Terms{Rate: limit(rate), Points: limit(Unlimited)}, 2)
		for range 3 {
			var admitted atomic.Int64
			together(8, func(i int) {
				for range rate {
					a, err := list[i%len(list)].Admit(b.ctx, Request{Key: b.secret, Points: 1})
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

// A retry that reaches another replica finds the first one's answer.
func TestReplicasShareIdempotencyKeys(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b, list := replicas(t, url, plenty, 2)
		first := b.send(b.once(1, 1))
		elsewhere := &bench{T: t, Ledger: list[1], ctx: b.ctx}
		require.Equal(t, IdempotencyConflict, elsewhere.send(b.once(1, 1)).Verdict)
		b.settle(first, Settlement{Answer: []byte("answer")})
		require.Equal(t, "answer", string(elsewhere.send(b.once(1, 1)).Replay))
		require.EqualValues(t, 5, b.used())
	})
}
