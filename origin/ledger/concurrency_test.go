package ledger

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// buy charges single points until there are none, and returns how many it charged.
func (f *fixture) buy(l *Ledger, seen *sync.Map) (sold int64) {
	on := *f
	on.Ledger = l
	for {
		d, err := on.tryRequest(f.ctx, f.secret, 1, nil)
		if isStall(err) { // another replica has held the locks for long
			continue
		}
		require.NoError(f, err)
		switch d.Kind {
		case Insufficient:
			return sold
		case Claimed: // a request that has claimed the last point may not be charged
			continue
		}
		require.Equal(f, Good, d.Kind)
		sold++
		_, twice := seen.LoadOrStore(d.Usage.Current, true)
		require.False(f, twice, "two charges returned the same total")
	}
}

// Sixteen callers charge single points until they are refused: the account's points
// are charged exactly.
func TestConcurrentChargesAreExact(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		const points = 400
		f := newFixture(t, url, book.Terms{Rate: limit(book.Unlimited), Points: limit(points)})
		var seen sync.Map
		var sold atomic.Int64
		inParallel(16, func(int) { sold.Add(f.buy(f.Ledger, &seen)) })
		require.EqualValues(t, points, sold.Load())
		require.EqualValues(t, points, f.used())
		require.Equal(t, points, int(f.history().Points))
		require.Greater(t, f.Stats().Largest, 1, "no commit group had two charges")
	})
}

// Requests of all sizes charge a part of their claims, and their callers leave at
// random times. The points used are exactly those of the requests that got a result.
func TestConcurrentCancellation(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, book.Terms{Plan: "pro", Rate: limit(book.Unlimited), Points: limit(2000), Overage: yes()})
		second, key, err := f.CreateKey(f.ctx, f.account, "second", book.KeyTerms{})
		require.NoError(t, err)
		var paid [2]atomic.Int64 // by key
		var gone atomic.Int64
		inParallel(8, func(i int) {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range 80 {
				which := random.IntN(2)
				points := f.requestWithDeadline(random, [...]string{f.secret, second}[which])
				if paid[which].Add(points); points == 0 {
					gone.Add(1)
				}
			}
		})
		days, err := f.UsageHistory(f.ctx, f.account, 0, 1_000_000)
		require.NoError(t, err)
		byKey := map[int64]int64{f.key.ID: 0, key.ID: 0}
		for _, d := range days {
			byKey[d.Key] += d.Points
		}
		require.Equal(t, map[int64]int64{f.key.ID: paid[0].Load(), key.ID: paid[1].Load()}, byKey)
		require.Equal(t, paid[0].Load()+paid[1].Load(), f.used())
		t.Logf("%d of 640 left before they were charged", gone.Load())
		require.Positive(t, gone.Load())
		require.Less(t, gone.Load(), int64(640))
	})
}

// requestWithDeadline runs a request with a random deadline and returns the points
// of its response, or 0 if it got none.
func (f *fixture) requestWithDeadline(random *rand.Rand, secret string) int64 {
	ctx, cancel := context.WithTimeout(f.ctx, time.Duration(random.IntN(1<<(6+random.IntN(11))))*time.Microsecond)
	defer cancel()
	r, d, err := f.Begin(ctx, secret, "")
	if err != nil {
		require.ErrorIs(f, err, context.DeadlineExceeded)
		return 0
	}
	if d.Kind == UnpaidWork {
		f.clock.advance(time.Minute)
		return 0
	}
	defer r.End()
	claim := 1 + random.Int64N(64)
	if d, err := r.Claim(claim, nil); err != nil || d.Kind != Good {
		require.ErrorIs(f, err, context.DeadlineExceeded)
		return 0
	}
	points := 1 + random.Int64N(claim)
	d, err = r.Charge(Charge{Points: points, Found: book.Found{Valid: points}})
	if err != nil {
		require.ErrorIs(f, err, context.DeadlineExceeded)
		return 0
	}
	require.Equal(f, Good, d.Kind)
	return points
}

// Of many requests with one Idempotency-Key, one is charged and the others get its
// response.
func TestConcurrentRetriesAreChargedOnce(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		other := f.replica()
		var charged, replayed atomic.Int64
		inParallel(16, func(i int) {
			for {
				replica := []*fixture{f, other}[i%2]
				d, err := replica.tryRequest(f.ctx, f.secret, 5, idempotency(1, 1))
				if isStall(err) { // the other replica's group has held the locks for long
					continue
				}
				require.NoError(t, err)
				switch d.Kind {
				case Good:
					charged.Add(1)
					return
				case Replayed:
					replayed.Add(1)
					require.Equal(f, storedResponse, string(d.Response))
					return
				}
				require.Equal(f, IdempotencyConflict, d.Kind)
			}
		})
		// A charge of which its caller did not learn in time is replayed.
		require.LessOrEqual(t, charged.Load(), int64(1))
		require.EqualValues(t, 16, charged.Load()+replayed.Load())
		require.EqualValues(t, 5, f.used())
	})
}

// While a request has claimed all points of its account, others are refused before
// their work.
func TestClaimedPointsCountAsUsed(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, book.Terms{Rate: limit(book.Unlimited), Points: limit(64)})
		first := f.mustBegin()
		d, err := first.Claim(64, nil)
		require.NoError(t, err)
		require.Equal(t, Good, d.Kind)
		inParallel(16, func(int) {
			for range 63 {
				d := f.request(64)
				require.Equal(f, Claimed, d.Kind)
				require.Zero(f, d.Remaining, "claimed points do not remain")
				require.Equal(f, time.Second, d.RetryAfter)
			}
		})
		first.End()
		require.Equal(t, Good, f.request(64).Kind, "a claim without a charge is released")
		require.Equal(t, Insufficient, f.request(64).Kind)
		require.EqualValues(t, 64, f.used())
	})
}

func TestRequestsInProgressAreBounded(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/x.db", unlimitedTerms)
	var list []*Request
	for range maxInProgress {
		list = append(list, f.mustBegin())
	}
	require.Equal(t, maxInProgress, f.Stats().InProgress)
	require.Equal(t, Busy, f.request(1).Kind)
	list[0].End()
	require.Equal(t, Good, f.request(1).Kind)
	for _, r := range list[1:] {
		r.End()
	}
	require.Zero(t, f.Stats().InProgress)
}

// An account without limits that hangs up ten thousand times gets the work for
// unpaidCapacity addresses without a charge, and is then refused.
func TestUnpaidWorkIsBounded(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/x.db", unlimitedTerms)
	worked := 0
	hangUp := func() Kind {
		ctx, cancel := context.WithCancel(f.ctx)
		r, d, err := f.Begin(ctx, f.secret, "")
		require.NoError(t, err)
		if d.Kind == Good {
			_, err := r.Claim(1, nil)
			require.NoError(t, err)
			worked++
			cancel()
			r.End()
		}
		cancel()
		return d.Kind
	}
	for range 10_000 {
		hangUp()
	}
	require.Equal(t, unpaidCapacity+1, worked)
	require.Equal(t, UnpaidWork, f.request(1).Kind)
	f.clock.advance(time.Second)
	for range 1000 {
		hangUp()
	}
	require.Equal(t, unpaidCapacity+1+64, worked, "the bucket refills with 64 a second")
	f.clock.advance(time.Minute)
	require.Equal(t, Good, f.request(1).Kind, "the account is admitted within a minute")
	for range unpaidCapacity + 100 {
		require.Equal(t, Good, f.request(1).Kind, "requests whose responses are awaited are not unpaid work")
	}
}
