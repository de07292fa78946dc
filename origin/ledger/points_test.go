package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPointsInOverage(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Plan: "pro", Rate: limit(Unlimited), Points: limit(10)})
		a := b.ask(10)
		require.Equal(t, Usage{Current: 10, Limit: 10}, a.Usage, "the last point within the limit is no overage")
		a = b.ask(1)
		require.Equal(t, Admitted, a.Verdict)
		require.Equal(t, Usage{Current: 11, Limit: 10, Overage: true}, a.Usage)
		require.Zero(t, a.Remaining)
		require.Equal(t, Usage{Current: 10, Limit: 10}, b.settle(a, Settlement{Refund: 1}))
	})
}

func TestPointsUnlimited(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Plan: "enterprise"})
		for range 3 {
			require.Equal(t, Admitted, b.ask(1_000_000).Verdict, "neither points nor rate end")
		}
		a := b.ask(1)
		require.Equal(t, Usage{Current: 3_000_001, Limit: Unlimited}, a.Usage)
		require.EqualValues(t, Unlimited, a.Remaining)
	})
}

func TestPointsRefillWithTheMonth(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(10)})
		b.clock.set("2026-11-30T23:59:59Z")
		require.Equal(t, Admitted, b.ask(9).Verdict)
		a := b.ask(2)
		require.Equal(t, Insufficient, a.Verdict)
		require.Equal(t, time.Second, a.RetryAfter)

		b.clock.advance(time.Second)
		require.EqualValues(t, 0, b.used(), "the list knows of the refill before the first request does")
		require.Equal(t, Usage{Current: 2, Limit: 10}, b.ask(2).Usage)

		b.clock.set("2028-02-29T12:00:00Z")
		require.Equal(t, Usage{Current: 10, Limit: 10}, b.ask(10).Usage, "months without a request are no credit")
	})
}

// A clock that jumps over a month's end and back neither refills twice nor
// takes points away.
func TestPointsWhenTheClockIsSetBack(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(10)})
		b.clock.set("2026-11-30T23:59:00Z")
		b.ask(7)
		b.clock.set("2026-12-01T00:01:00Z")
		require.EqualValues(t, 4, b.ask(4).Usage.Current)
		b.clock.set("2026-11-30T23:59:30Z")
		require.EqualValues(t, 5, b.ask(1).Usage.Current, "December goes on, November does not begin again")
		require.Equal(t, Insufficient, b.ask(6).Verdict)
		b.clock.set("2026-12-01T00:01:00Z")
		require.EqualValues(t, 10, b.ask(5).Usage.Current)

		days, err := b.UsageHistory(b.ctx, b.account, 0, 1_000_000)
		require.NoError(t, err)
		byMonth := map[month]int64{}
		for _, d := range days {
			byMonth[monthOf(d.Day.Time())] += d.Points
		}
		december := monthOf(b.clock.Now())
		require.Equal(t, map[month]int64{december - 1: 7, december: 10}, byMonth, "the history sums to each month's points")
	})
}

func TestSettleGivesBack(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(100)})
		a := b.ask(64)
		require.Equal(t, Usage{Current: 40, Limit: 100}, b.settle(a, Settlement{Refund: 24}))
		_, err := b.Settle(b.ctx, a, Settlement{Refund: 24})
		require.ErrorIs(t, err, ErrSettled)

		a = b.ask(60)
		require.Equal(t, Usage{Current: 40, Limit: 100}, b.settle(a, Settlement{Failed: true}), "a failure costs nothing")

		for _, refund := range []int64{-1, 6} {
			a = b.ask(5)
			_, err = b.Settle(b.ctx, a, Settlement{Refund: refund})
			require.ErrorIs(t, err, errRefund)
			require.EqualValues(t, 40, b.settle(a, Settlement{Failed: true}).Current, "and it can still be settled")
		}
		require.Equal(t, Tally{Points: 40, Requests: 4, Errors: 3}, b.history())
		require.EqualValues(t, 40, b.used())
	})
}

// A refund goes to the month, and to the day, that was charged.
func TestSettleAfterTheMonthEnded(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(100)})
		b.clock.set("2026-11-30T23:59:59Z")
		a := b.ask(64)
		b.clock.advance(2 * time.Second)
		b.ask(10)
		require.EqualValues(t, 10, b.settle(a, Settlement{Refund: 24}).Current, "December was not charged for it")
		days, err := b.UsageHistory(b.ctx, b.account, 0, 1_000_000)
		require.NoError(t, err)
		require.Len(t, days, 2)
		require.EqualValues(t, 40, days[0].Points)
		require.EqualValues(t, 10, days[1].Points)
	})
}

func TestTermsChangeAtTheNextRequest(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(1), Points: limit(10)})
		b.ask(8)
		require.Equal(t, RateLimited, b.ask(1).Verdict)
		require.NoError(t, b.ChangeTerms(b.ctx, b.account, Terms{Rate: limit(Unlimited), Points: limit(5)}))
		a := b.ask(1)
		require.Equal(t, Insufficient, a.Verdict)
		require.Equal(t, Usage{Current: 8, Limit: 5}, a.Usage)
		require.Zero(t, a.Remaining, "never less than nothing")
		require.ErrorIs(t, b.ChangeTerms(b.ctx, 4711, Terms{}), ErrNoAccount)
	})
}

func TestAdmitRefusesPricesOutOfBounds(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		for _, points := range []int64{-1, maxCharge + 1} {
			_, err := b.Admit(b.ctx, Request{Key: b.secret, Points: points})
			require.ErrorIs(t, err, errPoints)
		}
	})
}
