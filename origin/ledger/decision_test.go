package ledger

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

func TestTakeToken(t *testing.T) {
	const ms = time.Millisecond
	now, tat := time.Unix(1_000_000, 0), int64(0)
	take := func() (wait time.Duration) {
		tat, wait = takeToken(tat, now, now, 5, 0)
		return wait
	}
	for range 5 {
		require.Zero(t, take(), "a new bucket is full")
	}
	require.Equal(t, 200*ms, take(), "at 5/s the next token comes after 200 ms")
	now = now.Add(150 * ms)
	require.Equal(t, 50*ms, take(), "a refusal delays nothing")
	now = now.Add(50 * ms)
	require.Zero(t, take())
	require.Equal(t, 200*ms, take())
	now = now.Add(1000 * time.Second)
	for range 5 {
		require.Zero(t, take())
	}
	require.NotZero(t, take(), "the bucket overflows its capacity")
	now = now.Add(-500 * time.Second)
	require.Zero(t, take(), "after the clock is set back the bucket has one token")
	require.Equal(t, 200*ms, take(), "only one token")
}

func TestTakeTokenUnlimited(t *testing.T) {
	tat, wait := takeToken(7, time.Now(), time.Now(), book.Unlimited, 0)
	require.EqualValues(t, 7, tat)
	require.Zero(t, wait)
}

// A bucket implemented as a number of tokens, as in text books, admits the same
// requests. Times are multiples of a tenth of the interval, so that its arithmetic
// is exact too.
func TestTakeTokenEqualsCountingBucket(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, rate := range []int64{1, 2, 5, 10, 1000} {
		tenth := intervalOf(rate) / 10
		now, tat := time.Unix(1e9, 0), int64(0)
		tenths := rate * 10 // of a token
		for range 5000 {
			step := random.Int64N(25)
			now = now.Add(time.Duration(step * tenth))
			tenths = min(tenths+step, rate*10)
			next, wait := takeToken(tat, now, now, rate, 0)
			require.Equal(t, tenths >= 10, wait == 0)
			if tat = next; wait == 0 {
				tenths -= 10
			} else {
				require.Equal(t, (10-tenths)*tenth, int64(wait))
			}
		}
	}
}

// Tokens may reach the bucket late and in any order. Counted by arrival, at most
// capacity + rate x (T + lateness) of them are taken in any time T.
func TestTakeTokenBoundByArrival(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, rate := range []int64{1, 5, 40, 100} {
		start, tat := time.Unix(1e9, 0), int64(0)
		var taken []span // some out of order
		for now := time.Duration(0); now < 20*time.Second; now += time.Duration(random.Int64N(intervalOf(rate))) {
			arrival := now - time.Duration(random.Int64N(int64(lateness)))
			next, wait := takeToken(tat, start.Add(arrival), start.Add(now), rate, lateness)
			if tat = next; wait == 0 {
				taken = append(taken, span{arrival, arrival})
			}
		}
		requireBound(t, taken, rate)
		require.Greater(t, len(taken), int(17*rate)-1, "tokens are lost")
	}
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

// If the clock is set back, an empty bucket refills from the new time on.
func TestBucketAfterClockSetBack(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, book.Terms{Rate: limit(2), Points: limit(book.Unlimited)})
		require.Equal(t, Good, f.request(1).Kind)
		require.Equal(t, Good, f.request(1).Kind)
		f.clock.setBack(time.Hour)
		require.Equal(t, RateLimited, f.request(1).Kind)
		f.clock.advance(500 * time.Millisecond)
		require.Equal(t, Good, f.request(1).Kind)
		require.Equal(t, RateLimited, f.request(1).Kind)
		f.clock.advance(500 * time.Millisecond)
		require.Equal(t, Good, f.request(1).Kind)
	})
}

// All keys of an account share one bucket, also under concurrency.
func TestConcurrentRequestsShareOneBucket(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		const rate = 25
		f := newFixture(t, url, book.Terms{Rate: limit(rate), Points: limit(book.Unlimited)})
		for round := range 3 {
			var admitted atomic.Int64
			inParallel(16, func(int) {
				secret, _, err := f.CreateKey(f.ctx, f.account, "one of many", book.KeyTerms{})
				require.NoError(f, err)
				for range 5 {
					if f.requestWith(secret, 1, nil).Kind == Good {
						admitted.Add(1)
					}
				}
			})
			require.EqualValues(t, rate, admitted.Load(), "round %d", round)
			f.advanceBetweenGroups(time.Second)
		}
	})
}

// finish claims, charges and ends a request.
func (f *fixture) finish(r *Request, points int64) Decision {
	f.Helper()
	d, err := tryFinish(r, points)
	require.NoError(f, err)
	return d
}

func tryFinish(r *Request, points int64) (Decision, error) {
	defer r.End()
	d, err := r.Claim(points, nil)
	if err != nil || d.Kind != Good {
		return d, err
	}
	return r.Charge(Charge{Points: points, Found: book.Found{Valid: points}})
}

// A token reaches the database before its request ends, so that another replica
// counts it.
func TestPendingTokensAreWritten(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, book.Terms{Rate: limit(2), Points: limit(book.Unlimited)})
		first, second := f.mustBegin(), f.mustBegin()
		defer first.End()
		defer second.End()
		other := f.replica()
		require.Eventually(t, func() bool {
			f.clock.advance(time.Millisecond) // so that the other replica's view expires
			return other.request(0).Kind == RateLimited
		}, hung, 10*time.Millisecond)
	})
}

// beginAtOnce begins a request on each of two replicas with one token for both. If a slow
// machine lets the second replica know what the first one took, it is tried again.
func (f *fixture) beginAtOnce(other *fixture) []*Request {
	f.Helper()
	for range 100 {
		first := f.mustBegin()
		second, d, err := other.Begin(f.ctx, other.secret, "")
		require.NoError(f, err)
		if d.Kind == Good {
			return []*Request{first, second}
		}
		first.End()
		f.clock.advance(time.Second)
	}
	require.FailNow(f, "the second replica always knew")
	return nil
}

// If two replicas take the same token, one of their requests is refused late: its
// context is cancelled and it is not charged.
func TestLateRefusalCancelsRequest(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, book.Terms{Rate: limit(1), Points: limit(book.Unlimited)})
		other := f.replica()
		other.request(0) // takes the only token, which this replica's view does not show
		f.clock.advance(time.Second)
		require.Equal(t, Good, f.request(0).Kind)
		f.clock.advance(time.Second)

		requests := f.beginAtOnce(other) // one too many
		late := 0
		require.Eventually(t, func() bool {
			late = 0
			for _, r := range requests {
				if d, refused := r.Late(); refused {
					late++
					require.Equal(t, RateLimited, d.Kind)
					require.Positive(t, d.RetryAfter)
					require.ErrorIs(t, r.Context().Err(), context.Canceled)
				}
			}
			return late > 0
		}, hung, 10*time.Millisecond)
		require.Equal(t, 1, late)
		good := 0
		for i, r := range requests {
			if []*fixture{f, other}[i].finish(r, 1).Kind == Good {
				good++
			}
		}
		require.Equal(t, 1, good)
		require.EqualValues(t, 1, f.used())
	})
}

// Requests beyond the rate cause at most one query per maxRefuse, and their
// RetryAfter counts down.
func TestFloodRarelyAsksTheDatabase(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, book.Terms{Rate: limit(1), Points: limit(10)})
		require.Equal(t, Good, f.request(1).Kind)
		before := f.Stats()
		for range 1000 {
			d := f.request(1)
			require.Equal(t, RateLimited, d.Kind)
			require.Equal(t, time.Second, d.RetryAfter)
			require.Equal(t, &Usage{Current: 1, Limit: 10}, d.Usage)
		}
		require.Equal(t, before.Reads, f.Stats().Reads)
		require.Equal(t, before.Charges, f.Stats().Charges)
		for n := range 5 {
			f.clock.advance(maxRefuse + 1)
			for range 100 {
				require.Equal(t, time.Second-time.Duration(n+1)*(maxRefuse+1), f.request(1).RetryAfter)
			}
			require.EqualValues(t, n+1, f.Stats().Reads-before.Reads)
		}
		f.clock.advance(time.Second)
		require.Equal(t, Good, f.request(1).Kind)
	})
}

func TestUnpaidWorkDebtIsBounded(t *testing.T) {
	var w unpaidWork
	now := time.Unix(1, 0)
	w.add(unpaidCapacity, now)
	require.False(t, w.over(now))
	w.add(1, now)
	require.True(t, w.over(now))
	w.add(1_000_000, now)
	require.False(t, w.over(now.Add(time.Minute)), "the account waits less than a minute")
}
