package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

func TestPointsInOverage(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Plan: "pro", Rate: limit(Unlimited), Points: limit(10), Overage: yes()})
		require.Equal(t, &Usage{Current: 10, Limit: 10}, f.request(10).Usage, "the limit itself is not overage")
		d := f.request(1)
		require.Equal(t, Good, d.Verdict)
		require.Equal(t, &Usage{Current: 11, Limit: 10, Overage: true}, d.Usage)
		require.Zero(t, d.Remaining)
	})
}

// Points of an account's own are a hard limit unless its terms allow overage.
func TestPointsWithoutOverage(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Plan: "pro", Rate: limit(Unlimited), Points: limit(10)})
		require.Equal(t, Insufficient, f.request(11).Verdict)
		require.NoError(t, f.ChangeTerms(f.ctx, f.account, Terms{Plan: "pro", Points: limit(10), Overage: yes()}))
		require.Equal(t, Good, f.request(11).Verdict)
	})
}

func TestPointsUnlimited(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Plan: "enterprise"})
		for range 3 {
			require.Equal(t, Good, f.request(maxClaim).Verdict, "neither points nor rate are limited")
		}
		d := f.request(1)
		require.Equal(t, &Usage{Current: 3_000_001, Limit: Unlimited}, d.Usage)
		require.EqualValues(t, Unlimited, d.Remaining)
	})
}

func TestPointsRefillMonthly(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(Unlimited), Points: limit(10)})
		f.clock.until("2026-11-30T23:59:59Z")
		require.Equal(t, Good, f.request(9).Verdict)
		d := f.request(2)
		require.Equal(t, Insufficient, d.Verdict)
		require.Equal(t, time.Second, d.RetryAfter)

		f.clock.advance(time.Second)
		require.EqualValues(t, 0, f.used(), "the list shows the refill before the month's first request")
		require.Equal(t, &Usage{Current: 2, Limit: 10}, f.request(2).Usage)

		f.clock.until("2028-02-29T12:00:00Z")
		require.Equal(t, &Usage{Current: 10, Limit: 10}, f.request(10).Usage, "unused months add no points")
	})
}

// If the clock jumps over the end of a month and back, points neither refill twice
// nor get lost.
func TestPointsWhenTheClockIsSetBack(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(Unlimited), Points: limit(10)})
		f.clock.until("2026-11-30T23:59:00Z")
		f.request(7)
		f.clock.set(clockAt("2026-12-01T00:01:00Z").wall)
		f.request(0) // a view may refuse without reading the database's clock
		require.EqualValues(t, 1, f.request(1).Usage.Current)
		require.EqualValues(t, 4, f.request(3).Usage.Current)
		f.clock.set(clockAt("2026-11-30T23:59:30Z").wall)
		require.EqualValues(t, 5, f.request(1).Usage.Current, "the account stays in December")
		require.Equal(t, Insufficient, f.request(6).Verdict)
		f.clock.set(clockAt("2026-12-01T00:01:00Z").wall)
		require.EqualValues(t, 10, f.request(5).Usage.Current)

		days, err := f.UsageHistory(f.ctx, f.account, 0, 1_000_000)
		require.NoError(t, err)
		byMonth := map[month]int64{}
		for _, d := range days {
			byMonth[monthOf(d.Day.Time())] += d.Points
		}
		december := monthOf(f.clock.Now())
		require.Equal(t, map[month]int64{december - 1: 7, december: 10}, byMonth, "the history sums to each month's points")
	})
}

// If the clock jumps by more than a day against monotonic time, no month begins
// until the new time has lasted for an hour.
func TestPointsWhenTheClockJumps(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(Unlimited), Points: limit(10)})
		f.request(7)
		f.clock.set(clockAt("2036-11-20T12:00:00Z").wall)
		require.EqualValues(t, 8, f.request(1).Usage.Current, "no refill")
		require.Equal(t, Insufficient, f.request(3).Verdict)
		f.clock.set(clockAt("2026-11-20T12:00:10Z").wall)
		require.EqualValues(t, 9, f.request(1).Usage.Current, "the clock is right again")
		require.EqualValues(t, 9, f.used())

		f.clock.set(clockAt("2027-03-01T00:00:00Z").wall)
		f.request(1)
		f.clock.advance(confirmAfter - time.Second)
		require.Equal(t, Insufficient, f.request(1).Verdict)
		f.clock.advance(time.Second)
		f.request(0) // a view that refuses is read again, but not the time
		require.Eventually(t, func() bool { return f.request(1).Verdict == Good }, hung, tickEvery, "the new time is not trusted after an hour")
	})
}

func TestKeyBudgetAndRate(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(Unlimited), Points: limit(100)})
		secret, _, err := f.CreateKey(f.ctx, f.account, "narrow", KeyTerms{Budget: limit(5), Rate: limit(2)})
		require.NoError(t, err)
		require.Equal(t, Good, f.requestWith(secret, 3, nil).Verdict)
		d := f.requestWith(secret, 3, nil)
		require.Equal(t, Insufficient, d.Verdict, "the key's budget")
		require.EqualValues(t, 2, d.Remaining, "what is left of the budget")
		require.Equal(t, RateLimited, f.requestWith(secret, 1, nil).Verdict, "the key's rate")
		require.Equal(t, Good, f.request(90).Verdict, "another key of the account has neither limit")
		f.clock.advance(time.Second)
		require.Equal(t, Good, f.requestWith(secret, 2, nil).Verdict, "the last points of the budget can be used")
		f.clock.until("2026-12-01T00:00:00Z")
		require.Equal(t, Good, f.requestWith(secret, 5, nil).Verdict, "the budget refills with the month")

		_, _, err = f.CreateKey(f.ctx, f.account, "odd", KeyTerms{Rate: limit(Unlimited)})
		require.ErrorContains(t, err, "leave it out")
		other := f.replica()
		require.Equal(t, Insufficient, other.requestWith(secret, 1, nil).Verdict, "replicas share the budget")
	})
}

func TestKeyExpiry(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		secret, _, err := f.CreateKey(f.ctx, f.account, "short", KeyTerms{Expires: f.clock.Now().Add(time.Hour)})
		require.NoError(t, err)
		require.Equal(t, Good, f.requestWith(secret, 1, nil).Verdict)
		f.clock.advance(time.Hour)
		require.Equal(t, UnknownKey, f.requestWith(secret, 1, nil).Verdict)
	})
}

// While a key is rotated it has two secrets, which share its budget.
func TestKeyWithTwoSecrets(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		old, key, err := f.CreateKey(f.ctx, f.account, "rotated", KeyTerms{Budget: limit(5)})
		require.NoError(t, err)
		fresh := NewSecret()
		f.exec("INSERT INTO secrets (hash, key) VALUES ($1, $2)", digestOf(fresh).hex(), key.ID)
		f.exec("UPDATE secrets SET expires_ns = $1 WHERE hash = $2", f.clock.Now().Add(time.Hour).UnixNano(), digestOf(old).hex())
		require.Equal(t, Good, f.requestWith(old, 2, nil).Verdict)
		require.Equal(t, Good, f.requestWith(fresh, 2, nil).Verdict)
		require.Equal(t, Insufficient, f.requestWith(old, 2, nil).Verdict)
		f.clock.advance(time.Hour)
		require.Equal(t, UnknownKey, f.requestWith(old, 1, nil).Verdict, "the old secret has expired")
		require.Equal(t, Good, f.requestWith(fresh, 1, nil).Verdict)
	})
}

func TestSuspendedAccount(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		f.request(1)
		r := f.mustBegin()
		f.exec("UPDATE accounts SET suspended_ns = 1")
		require.Equal(t, UnknownKey, f.finish(r, 1).Verdict, "the transaction reads the row, although the view is fresh")
		f.clock.advance(maxAccept + 1)
		require.Equal(t, UnknownKey, f.request(1).Verdict)
		f.exec("UPDATE accounts SET suspended_ns = NULL")
		f.clock.advance(maxRefuse + 1)
		require.Equal(t, Good, f.request(1).Verdict)
	})
}

func TestChangeTermsAppliesAtOnce(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(1), Points: limit(10)})
		f.request(8)
		require.Equal(t, RateLimited, f.request(1).Verdict)
		require.NoError(t, f.ChangeTerms(f.ctx, f.account, Terms{Rate: limit(Unlimited), Points: limit(5)}))
		d := f.request(1)
		require.Equal(t, Insufficient, d.Verdict)
		require.Equal(t, &Usage{Current: 8, Limit: 5}, d.Usage)
		require.Zero(t, d.Remaining, "remaining is not negative")
		require.Equal(t, Good, f.request(0).Verdict, "a request for 0 points lacks none")
		require.ErrorIs(t, f.ChangeTerms(f.ctx, 4711, Terms{}), ErrNoAccount)
	})
}
