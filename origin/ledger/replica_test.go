package ledger

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// Three replicas charge the points of an account exactly.
func TestReplicasChargeExactly(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		const points = 300
		f := newFixture(t, url, book.Terms{Rate: limit(book.Unlimited), Points: limit(points)})
		list := []*fixture{f, f.replica(), f.replica()}
		var seen sync.Map
		var sold atomic.Int64
		inParallel(16, func(i int) { sold.Add(f.buy(list[i%len(list)].Ledger, &seen)) })
		require.EqualValues(t, points, sold.Load())
		require.EqualValues(t, points, f.used())
		require.EqualValues(t, points, f.history().Points)
	})
}

// Replicas share an account's rate. Counted by arrival, and by the database's own
// clock, four replicas under contention charge at most capacity + rate x (T +
// lateness) requests in any time T. The bucket refills, so they charge twice its
// capacity.
func TestReplicasShareOneBucket(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel() // the callers mostly wait for tokens
		const rate, enough = 50, 100
		list := make([]*Ledger, 4)
		for i := range list {
			list[i] = open(t, url)
		}
		f := (&fixture{T: t, Ledger: list[0], ctx: t.Context(), url: url}).otherAccount("owner@example.com")
		terms := book.Terms{Rate: limit(rate), Points: limit(book.Unlimited)}
		require.NoError(t, f.ChangeTerms(f.ctx, f.account, terms))

		var mu sync.Mutex
		var charged []span
		start := time.Now()
		elapsed := func() time.Duration { return time.Since(start) } // real time: of the database's clock; a slow machine charges later
		count := func() int {
			mu.Lock()
			defer mu.Unlock()
			return len(charged)
		}
		inParallel(16, func(i int) {
			on := *f
			on.Ledger = list[i%len(list)]
			for count() < enough {
				from := elapsed()
				r, d, err := on.Begin(f.ctx, f.secret, "")
				to := elapsed()
				if d.Kind == Good && err == nil {
					d, err = tryFinish(r, 1, nil)
				}
				switch {
				case err != nil:
					require.ErrorContains(t, err, "has locked the account", "on a slow machine replicas wait long for each other")
				case d.Kind == Good:
					mu.Lock()
					charged = append(charged, span{from, to})
					mu.Unlock()
				default:
					require.Equal(t, RateLimited, d.Kind)
				}
			}
		})
		requireBound(t, charged, rate)
		require.EqualValues(t, len(charged), f.used())
	})
}

// A key that another replica revoked, or whose account it suspended, is refused, also with a fresh
// view, for a request in progress and for a replay.
func TestRevokedByAnotherReplica(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		other := f.replica()
		require.NoError(t, other.ResumeAccount(f.ctx, f.account), "nothing to resume")
		for n, refuse := range []func(context.Context, int64) error{
			other.SuspendAccount,
			func(ctx context.Context, account int64) error { return other.RevokeKey(ctx, account, f.key.ID) },
		} {
			require.Equal(t, []Kind{Good, Replayed}[n], f.retryable(1, 1).Kind)
			under, looking := f.mustBegin(), f.mustBegin()
			require.Equal(t, Good, other.request(7).Kind)
			require.EqualValues(t, 5+7*(n+1), must(looking.Inspect())(t).Usage.Current, "of another replica")
			for range 2 {
				require.NoError(t, refuse(f.ctx, f.account))
			}
			require.Equal(t, UnknownKey, f.retryable(1, 1).Kind, "a replay")
			require.Equal(t, UnknownKey, f.request(1).Kind)
			require.Equal(t, UnknownKey, f.finish(under, 1).Kind)
			require.Equal(t, Decision{Kind: UnknownKey}, must(looking.Inspect())(t))
			looking.End()
			require.NoError(t, other.ResumeAccount(f.ctx, f.account))
			f.clock.advance(maxRefuse + 1)
		}
		require.Equal(t, UnknownKey, f.request(1).Kind)
		require.EqualValues(t, 5+7+7, f.used())
	})
}

// Keys created and terms changed by another process apply from the next request on, those of this
// process at once.
func TestChangesByAnotherReplica(t *testing.T) {
	eachDatabase(t, book.Terms{Rate: limit(1), Points: limit(9)}, func(t *testing.T, f *fixture) {
		other := f.replica()
		points := func(n int64) book.Terms { return book.Terms{Rate: limit(book.Unlimited), Points: limit(n)} }
		f.request(1)
		require.Equal(t, RateLimited, f.request(1).Kind)
		require.NoError(t, f.ChangeTerms(f.ctx, f.account, points(9)))
		require.Equal(t, Good, f.request(1).Kind, "a higher rate")
		secret, _ := must2(other.CreateKey(f.ctx, f.account, "new", book.KeyTerms{}))(t)
		require.Equal(t, Good, f.requestWith(secret, 1, nil).Kind)
		require.NoError(t, other.ChangeTerms(f.ctx, f.account, points(2)))
		require.Equal(t, Insufficient, f.requestWith(secret, 1, nil).Kind, "a lower limit: the transaction reads it")
		require.NoError(t, other.ChangeTerms(f.ctx, f.account, points(9)))
		f.clock.advance(maxRefuse + 1)
		require.Equal(t, Good, f.requestWith(secret, 1, nil).Kind, "a higher limit: the view is read again before it refuses")
		require.NoError(t, f.ChangeTerms(f.ctx, f.account, points(1)))
		d := f.request(1)
		require.Equal(t, Insufficient, d.Kind)
		require.Equal(t, &Usage{Current: 4, Limit: 1}, d.Usage)
		require.Zero(t, d.Remaining, "remaining is not negative")
		require.Equal(t, Good, f.request(0).Kind, "a request for 0 points lacks none")
		require.ErrorIs(t, f.ChangeTerms(f.ctx, 4711, book.Terms{}), book.ErrNoAccount)
	})
}

// The work of a request that is refused after it counts as unpaid.
func TestRefusalAfterWorkIsUnpaid(t *testing.T) {
	eachDatabase(t, book.Terms{Rate: limit(book.Unlimited), Points: limit(64)}, func(t *testing.T, f *fixture) {
		other := f.replica()
		for worked := 0; worked <= unpaidCapacity; worked += 64 {
			r := f.mustBegin()
			require.Equal(t, Good, must(r.Claim(64, nil))(t).Kind)
			require.NoError(t, other.ChangeTerms(f.ctx, f.account, book.Terms{Rate: limit(book.Unlimited), Points: limit(1)}))
			d, err := r.Charge(Charge{Points: 64})
			r.End()
			require.NoError(t, f.ChangeTerms(f.ctx, f.account, book.Terms{Rate: limit(book.Unlimited), Points: limit(64)}))
			if errors.Is(err, store.ErrUnavailable) { // a commit of this machine took a second
				worked -= 64
				continue
			}
			require.NoError(t, err)
			require.Equal(t, Insufficient, d.Kind)
		}
		require.Equal(t, UnpaidWork, f.request(0).Kind)
	})
}

// A span contains the arrival of a request.
type span struct{ from, to time.Duration }

// requireBound checks arrivals against the contract: in any time T at most capacity
// + rate x (T + a tenth of a second). It checks times that begin with an arrival,
// and counts the requests that certainly arrived in them.
func requireBound(t *testing.T, arrivals []span, rate int64) {
	t.Helper()
	for _, first := range arrivals {
		for _, d := range []time.Duration{0, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, 7 * time.Second} {
			count := 0
			for _, a := range arrivals {
				if a.from >= first.from && a.to <= first.from+d {
					count++
				}
			}
			most := float64(rate) * (1 + (d + 100*time.Millisecond).Seconds())
			require.LessOrEqual(t, float64(count), most+1e-6, "%d/s, %s from %s", rate, d, first.from)
		}
	}
}
