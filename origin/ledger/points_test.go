package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPointsInOverage(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Plan: "pro", Rate: limit(Unlimited), Points: limit(10), Overage: yes()})
		require.Equal(t, &Usage{Current: 10, Limit: 10}, b.ask(10).Usage, "the last point within the limit is no overage")
		d := b.ask(1)
		require.Equal(t, Good, d.Verdict)
		require.Equal(t, &Usage{Current: 11, Limit: 10, Overage: true}, d.Usage)
		require.Zero(t, d.Remaining)
	})
}

// Points of an account's own are a hard limit unless overage is given, too.
func TestPointsOfItsOwnAreAHardLimit(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Plan: "pro", Rate: limit(Unlimited), Points: limit(10)})
		require.Equal(t, Insufficient, b.ask(11).Verdict)
		require.NoError(t, b.ChangeTerms(b.ctx, b.account, Terms{Plan: "pro", Points: limit(10), Overage: yes()}))
		require.Equal(t, Good, b.ask(11).Verdict)
	})
}

func TestPointsUnlimited(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Plan: "enterprise"})
		for range 3 {
			require.Equal(t, Good, b.ask(maxPrice).Verdict, "neither points nor rate end")
		}
		d := b.ask(1)
		require.Equal(t, &Usage{Current: 3_000_001, Limit: Unlimited}, d.Usage)
		require.EqualValues(t, Unlimited, d.Remaining)
	})
}

func TestPointsRefillWithTheMonth(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(10)})
		b.clock.until("2026-11-30T23:59:59Z")
		require.Equal(t, Good, b.ask(9).Verdict)
		d := b.ask(2)
		require.Equal(t, Insufficient, d.Verdict)
		require.Equal(t, time.Second, d.RetryAfter)

		b.clock.advance(time.Second)
		require.EqualValues(t, 0, b.used(), "the list knows of the refill before the first request does")
		require.Equal(t, &Usage{Current: 2, Limit: 10}, b.ask(2).Usage)

		b.clock.until("2028-02-29T12:00:00Z")
		require.Equal(t, &Usage{Current: 10, Limit: 10}, b.ask(10).Usage, "months without a request are no credit")
	})
}

// A clock that jumps over a month's end and back neither refills twice nor
// takes points away.
func TestPointsWhenTheClockIsSetBack(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(10)})
		b.clock.until("2026-11-30T23:59:00Z")
		b.ask(7)
		b.clock.set(clockAt("2026-12-01T00:01:00Z").wall)
		b.ask(0) // refusals do not look at the clock
		require.EqualValues(t, 1, b.ask(1).Usage.Current)
		require.EqualValues(t, 4, b.ask(3).Usage.Current)
		b.clock.set(clockAt("2026-11-30T23:59:30Z").wall)
		require.EqualValues(t, 5, b.ask(1).Usage.Current, "December goes on, November does not begin again")
		require.Equal(t, Insufficient, b.ask(6).Verdict)
		b.clock.set(clockAt("2026-12-01T00:01:00Z").wall)
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

// A jump of more than a day against monotonic time rolls no month until it has
// lasted for an hour.
func TestPointsWhenTheClockJumps(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(10)})
		b.ask(7)
		b.clock.set(clockAt("2036-11-20T12:00:00Z").wall)
		require.EqualValues(t, 8, b.ask(1).Usage.Current, "no refill")
		require.Equal(t, Insufficient, b.ask(3).Verdict)
		b.clock.set(clockAt("2026-11-20T12:00:10Z").wall)
		require.EqualValues(t, 9, b.ask(1).Usage.Current, "as if nothing had happened")
		require.EqualValues(t, 9, b.used())

		b.clock.set(clockAt("2027-03-01T00:00:00Z").wall)
		b.ask(1)
		b.clock.advance(confirmAfter - time.Second)
		require.Equal(t, Insufficient, b.ask(1).Verdict)
		b.clock.advance(time.Second)
		b.ask(0) // a view that refuses asks the database for rows and not for the time
		require.Eventually(t, func() bool { return b.ask(1).Verdict == Good }, 20*time.Second, postEvery, "what lasts is true")
	})
}

func TestKeyBudgetAndRate(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(100)})
		secret, _, err := b.CreateKey(b.ctx, b.account, "narrow", KeyTerms{Budget: limit(5), Rate: limit(2)})
		require.NoError(t, err)
		require.Equal(t, Good, b.send(secret, 3, nil).Verdict)
		d := b.send(secret, 3, nil)
		require.Equal(t, Insufficient, d.Verdict, "the key's budget")
		require.EqualValues(t, 2, d.Remaining, "of it, not of the account's points")
		require.Equal(t, RateLimited, b.send(secret, 1, nil).Verdict, "the key's rate")
		require.Equal(t, Good, b.ask(90).Verdict, "the account's other key is free of both")
		b.clock.advance(time.Second)
		require.Equal(t, Good, b.send(secret, 2, nil).Verdict, "to the budget's last point")
		b.clock.until("2026-12-01T00:00:00Z")
		require.Equal(t, Good, b.send(secret, 5, nil).Verdict, "the budget refills with the month")

		_, _, err = b.CreateKey(b.ctx, b.account, "odd", KeyTerms{Rate: limit(Unlimited)})
		require.ErrorContains(t, err, "leave it out")
		other := b.elsewhere()
		require.Equal(t, Insufficient, other.send(secret, 1, nil).Verdict, "the budget is the key's on every replica")
	})
}

func TestKeyExpires(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		secret, _, err := b.CreateKey(b.ctx, b.account, "short", KeyTerms{Expires: b.clock.Now().Add(time.Hour)})
		require.NoError(t, err)
		require.Equal(t, Good, b.send(secret, 1, nil).Verdict)
		b.clock.advance(time.Hour)
		require.Equal(t, UnknownKey, b.send(secret, 1, nil).Verdict)
	})
}

// While a key is rotated it has two secrets; both spend from one budget.
func TestKeyWithTwoSecrets(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		old, key, err := b.CreateKey(b.ctx, b.account, "rotated", KeyTerms{Budget: limit(5)})
		require.NoError(t, err)
		fresh := NewKey()
		b.sql("INSERT INTO secrets (hash, key) VALUES ($1, $2)", digestOf(fresh).hex(), key.ID)
		b.sql("UPDATE secrets SET expires_ns = $1 WHERE hash = $2", b.clock.Now().Add(time.Hour).UnixNano(), digestOf(old).hex())
		require.Equal(t, Good, b.send(old, 2, nil).Verdict)
		require.Equal(t, Good, b.send(fresh, 2, nil).Verdict)
		require.Equal(t, Insufficient, b.send(old, 2, nil).Verdict)
		b.clock.advance(time.Hour)
		require.Equal(t, UnknownKey, b.send(old, 1, nil).Verdict, "its grace is over")
		require.Equal(t, Good, b.send(fresh, 1, nil).Verdict)
	})
}

func TestSuspendedAccount(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		b.ask(1)
		r := b.arrive()
		b.sql("UPDATE accounts SET suspended_ns = 1")
		require.Equal(t, UnknownKey, b.finish(r, 1).Verdict, "the transaction sees it, although the view is new")
		b.clock.advance(maxAccept + 1)
		require.Equal(t, UnknownKey, b.ask(1).Verdict)
		b.sql("UPDATE accounts SET suspended_ns = NULL")
		b.clock.advance(maxRefuse + 1)
		require.Equal(t, Good, b.ask(1).Verdict)
	})
}

func TestTermsChangeAtTheNextRequest(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(1), Points: limit(10)})
		b.ask(8)
		require.Equal(t, RateLimited, b.ask(1).Verdict)
		require.NoError(t, b.ChangeTerms(b.ctx, b.account, Terms{Rate: limit(Unlimited), Points: limit(5)}))
		d := b.ask(1)
		require.Equal(t, Insufficient, d.Verdict)
		require.Equal(t, &Usage{Current: 8, Limit: 5}, d.Usage)
		require.Zero(t, d.Remaining, "never less than nothing")
		require.Equal(t, Good, b.ask(0).Verdict, "what costs nothing needs none")
		require.ErrorIs(t, b.ChangeTerms(b.ctx, 4711, Terms{}), ErrNoAccount)
	})
}
