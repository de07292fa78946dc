package ledger

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
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

// Twelve month ends come while two replicas sell all that there is. No month sells more than its
// points, each sells all of them, and the account's points are those of the month's history.
func TestMonthEndsUnderLoad(t *testing.T) {
	const points, clients = 60, 8
	eachDatabase(t, book.Terms{Rate: limit(book.Unlimited), Points: limit(points)}, func(t *testing.T, f *fixture) {
		replicas := []*fixture{f, f.replica()}
		var requests atomic.Int64
		var ended atomic.Bool
		var all sync.WaitGroup
		for n := range clients {
			all.Go(func() {
				for !ended.Load() {
					_, err := replicas[n%2].tryRequest(f.ctx, f.secret, int64(1+n%3), nil)
					if !isStall(err) {
						require.NoError(t, err)
					}
					requests.Add(1)
				}
			})
		}
		defer all.Wait()
		defer ended.Store(true)
		soldOut := func() bool { return f.used() == points }
		for month := range 12 {
			end := time.Date(2026, time.Month(12+month), 1, 0, 0, 0, 0, time.UTC)
			require.Eventually(t, soldOut, hung, time.Millisecond)
			f.clock.advance(end.Add(-time.Second).Sub(f.clock.Now()))
			for range 20 {
				done := requests.Load()
				require.Eventually(t, func() bool { return requests.Load() > done+clients }, hung, time.Millisecond)
				f.clock.advance(100 * time.Millisecond)
				require.LessOrEqual(t, f.used(), int64(points))
			}
		}
		require.Eventually(t, soldOut, hung, time.Millisecond)
		ended.Store(true)
		all.Wait()
		sold := map[time.Time]int64{}
		for _, day := range must(f.UsageHistory(f.ctx, f.account, 0, 1_000_000))(t) {
			at := day.Day.Time()
			sold[time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)] += day.Points
		}
		require.Len(t, sold, 13)
		for month, sum := range sold {
			require.EqualValues(t, points, sum, month)
		}
		require.EqualValues(t, points, f.used())
	})
}

// While a request has claimed all points of its account, others are refused before
// their work.
func TestClaimedPointsCountAsUsed(t *testing.T) {
	eachDatabase(t, book.Terms{Rate: limit(book.Unlimited), Points: limit(64)}, func(t *testing.T, f *fixture) {
		first := f.mustBegin()
		d := must(first.Claim(64, nil))(t)
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
	require.Equal(t, maxInProgress, f.InProgress(f.account))
	require.Zero(t, f.InProgress(4711))
	require.Equal(t, Busy, f.request(1).Kind)
	list[0].End()
	require.Equal(t, Good, f.request(1).Kind)
	for _, r := range list[1:] {
		r.End()
	}
	require.Zero(t, f.Stats().InProgress)
	require.Zero(t, f.InProgress(f.account))
}

// An account without limits that hangs up ten thousand times gets the work for
// unpaidCapacity addresses without a charge, and is then refused.
func TestUnpaidWorkIsBounded(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/x.db", unlimitedTerms)
	worked := 0
	hangUp := func() Kind {
		ctx, cancel := context.WithCancel(f.ctx)
		r, d := must2(f.Begin(ctx, f.secret, ""))(t)
		if d.Kind == Good {
			must(r.Claim(1, nil))(t)
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
