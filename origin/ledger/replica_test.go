package ledger

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// replicas begins n ledgers on one database; the bench's own is the first.
func replicas(t *testing.T, url string, terms Terms, n int) (*bench, []*bench) {
	b := begin(t, url, terms)
	list := []*bench{b}
	for len(list) < n {
		list = append(list, b.elsewhere())
	}
	return b, list
}

// Three replicas, each with buyers of its own, sell N points exactly.
func TestReplicasSellEachPointOnce(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		const points = 300
		b, list := replicas(t, url, Terms{Rate: limit(Unlimited), Points: limit(points)}, 3)
		var seen sync.Map
		var sold atomic.Int64
		together(16, func(i int) { sold.Add(b.buy(list[i%len(list)].Ledger, &seen)) })
		require.EqualValues(t, points, sold.Load())
		require.EqualValues(t, points, b.used())
		require.EqualValues(t, points, b.history().Points)
	})
}

// The rate is the account's, not the replica's. Counted by arrival, and by the
// database's own clock, four replicas under contention charge no more in any
// time T than capacity + rate x (T + lateness).
func TestReplicasShareOneBucket(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		const rate, long = 50, 3 * time.Second
		list := make([]*Ledger, 4)
		for i := range list {
			list[i] = open(t, url)
		}
		b := &bench{T: t, Ledger: list[0], ctx: t.Context(), url: url}
		a, err := b.CreateAccount(b.ctx, "owner@example.com", Terms{Rate: limit(rate), Points: limit(Unlimited)})
		require.NoError(t, err)
		b.secret, _, err = b.CreateKey(b.ctx, a.ID, "test", KeyTerms{})
		require.NoError(t, err)

		var mu sync.Mutex
		var charged []span
		start := time.Now()
		together(16, func(i int) {
			on := *b
			on.Ledger = list[i%len(list)]
			for time.Since(start) < long {
				from := time.Since(start)
				r, d, err := on.Begin(b.ctx, b.secret)
				to := time.Since(start)
				require.NoError(t, err)
				if d.Verdict == Good {
					d = on.finish(r, 1)
				}
				if d.Verdict == Good {
					mu.Lock()
					charged = append(charged, span{from, to})
					mu.Unlock()
				} else {
					require.Equal(t, RateLimited, d.Verdict)
				}
			}
		})
		requireBound(t, charged, rate)
		require.EqualValues(t, len(charged), b.used())
		require.Greater(t, len(charged), int(float64(rate)*long.Seconds()*0.9), "tokens are not lost")
		t.Logf("%d charged in %s where %d to %d are allowed", len(charged), long, int(rate*long.Seconds()), int(rate*(1+long.Seconds()+0.1)))
	})
}

// A key revoked by one replica gets no 200 from another: not with a new view,
// not for work under way, not for a stored answer.
func TestRevokedElsewhere(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b, list := replicas(t, url, plenty, 2)
		other := list[1]
		require.Equal(t, Good, b.repeat(1, 1).Verdict)
		require.Equal(t, Replayed, b.repeat(1, 1).Verdict)
		under := b.arrive()
		require.NoError(t, other.RevokeKey(b.ctx, b.account, b.key.ID))
		require.Equal(t, UnknownKey, b.repeat(1, 1).Verdict, "a replay")
		require.Equal(t, UnknownKey, b.ask(1).Verdict)
		require.Equal(t, UnknownKey, b.finish(under, 1).Verdict)
		require.EqualValues(t, 5, b.used())
	})
}

// Another process on the same database makes, changes and revokes; each holds
// at the very next request.
func TestChangesElsewhereHoldAtOnce(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b, list := replicas(t, url, plenty, 2)
		other := list[1]
		b.ask(1)
		secret, key, err := other.CreateKey(b.ctx, b.account, "new", KeyTerms{})
		require.NoError(t, err)
		require.Equal(t, Good, b.send(secret, 1, nil).Verdict)
		require.NoError(t, other.ChangeTerms(b.ctx, b.account, Terms{Rate: limit(Unlimited), Points: limit(2)}))
		require.Equal(t, Insufficient, b.send(secret, 1, nil).Verdict, "a lower limit: the transaction sees it")
		require.NoError(t, other.ChangeTerms(b.ctx, b.account, Terms{Rate: limit(Unlimited), Points: limit(9)}))
		b.clock.advance(maxRefuse + 1)
		require.Equal(t, Good, b.send(secret, 1, nil).Verdict, "a higher limit: who is refused asks again")
		require.NoError(t, other.RevokeKey(b.ctx, b.account, key.ID))
		require.Equal(t, UnknownKey, b.send(secret, 1, nil).Verdict)
	})
}

// Replicas that charge a key with a budget at the same time never overdraw it,
// however they wait for one another.
func TestReplicasShareABudget(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		const budget = 200
		b, list := replicas(t, url, plenty, 3)
		secret, _, err := b.CreateKey(b.ctx, b.account, "narrow", KeyTerms{Budget: limit(budget)})
		require.NoError(t, err)
		b.secret = secret
		var sold atomic.Int64
		together(12, func(i int) {
			for {
				d, err := list[i%3].try(b.ctx, secret, 1, nil)
				require.NoError(t, err)
				switch d.Verdict {
				case Good:
					sold.Add(1)
				case Insufficient:
					return
				default:
					require.Equal(t, Claimed, d.Verdict)
				}
			}
		})
		require.EqualValues(t, budget, sold.Load())
		require.EqualValues(t, budget, b.used())
	})
}

// What is refused only after its work is wasted work, as what nobody waits for.
func TestRefusedAfterTheWorkIsWasted(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b, list := replicas(t, url, Terms{Rate: limit(Unlimited), Points: limit(64)}, 2)
		for range 3 {
			r := b.arrive()
			d, err := r.Claim(64, nil)
			require.NoError(t, err)
			require.Equal(t, Good, d.Verdict)
			require.NoError(t, list[1].ChangeTerms(b.ctx, b.account, Terms{Rate: limit(Unlimited), Points: limit(1)}))
			d, err = r.Charge(Charge{Points: 64})
			require.NoError(t, err)
			require.Equal(t, Insufficient, d.Verdict)
			r.End()
			require.NoError(t, b.ChangeTerms(b.ctx, b.account, Terms{Rate: limit(Unlimited), Points: limit(64)}))
		}
		now := b.Ledger.clock.monotonic()
		require.Equal(t, now.Add(3*64*wasteInterval), b.views.accounts[b.account].waste.full)
	})
}
