package ledger

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

func TestClockJump(t *testing.T) {
	fake := clockAt(startTime)
	c := newClock(fake.Now(), fake.instant, slog.New(slog.DiscardHandler))
	observe := func() time.Time { return c.observe(fake.Now()) }
	fake.advance(time.Hour)
	require.Equal(t, fake.Now(), observe())
	fake.setBack(23 * time.Hour)
	require.Equal(t, fake.Now(), observe(), "a jump of less than a day is trusted")

	right := fake.Now()
	fake.set(right.AddDate(10, 0, 0))
	require.Equal(t, right, observe())
	fake.advance(confirmAfter - 1)
	require.Equal(t, right.Add(confirmAfter-1), observe(), "the clock continues from the old time")
	fake.set(right.AddDate(20, 0, 0))
	observe()
	fake.advance(confirmAfter - 1)
	require.Equal(t, right.Add(2*confirmAfter-2), observe(), "another jump restarts the hour")
	fake.advance(1)
	require.Equal(t, fake.Now(), observe(), "a time that has lasted for an hour is trusted")
	require.Equal(t, fake.Now(), c.now())
}

func TestMonthsAreUTC(t *testing.T) {
	east := time.FixedZone("east", 14*60*60)
	for _, c := range []struct{ at, begin time.Time }{
		{time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
		{time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)},
		{time.Date(2027, 1, 1, 13, 59, 0, 0, east), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)},
	} {
		require.Equal(t, c.begin, monthOf(c.at).begin())
		require.Equal(t, c.begin.AddDate(0, 1, 0), (monthOf(c.at) + 1).begin())
	}
}

func TestDay(t *testing.T) {
	day, err := ParseDay("2026-11-20")
	require.NoError(t, err)
	require.Equal(t, "2026-11-20", day.String())
	require.Equal(t, day, DayOf(day.Time()))
	require.Equal(t, day, DayOf(day.Time().Add(24*time.Hour-1)))
	require.Equal(t, day+1, DayOf(day.Time().Add(24*time.Hour)))
	require.Equal(t, Day(-1), DayOf(time.Unix(-1, 0)), "before 1970")
	_, err = ParseDay("20.11.2026")
	require.ErrorContains(t, err, "2026-11-20")
}

// wrongYear is the time of a clock that is ten years ahead.
const wrongYear = "2036-06-15T12:00:00Z"

// chargeInWrongYear charges points by a replica with a wrong clock, which moves the
// account and its keys to a future month.
func (f *fixture) chargeInWrongYear(secrets map[string]int64) {
	f.Helper()
	l, err := Open(f.ctx, f.url, withFake(clockAt(wrongYear)))
	require.NoError(f, err)
	defer l.Close()
	wrong := *f
	wrong.Ledger = l
	for secret, points := range secrets {
		require.Equal(f, Good, wrong.requestWith(secret, points, nil).Kind)
	}
}

// operator returns a ledger of its own, as a command opens it.
func (f *fixture) operator() *Ledger { return open(f.T, f.url, withFake(clockAt(startTime))) }

// months returns the points of the usage history by month.
func (f *fixture) months() map[string]int64 {
	f.Helper()
	days, err := f.UsageHistory(f.ctx, f.account, 0, 1_000_000)
	require.NoError(f, err)
	sum := map[string]int64{}
	for _, d := range days {
		sum[d.Day.Time().Format("2006-01")] += d.Points
	}
	return sum
}

func midnight(day string) time.Time { return clockAt(day + "T00:00:00Z").wall }

// A wrong clock has moved the account and its keys to a month years ahead, in which
// nothing refills. ResetAccount moves them back while the service runs. Points are
// neither lost nor charged twice, and the history sums to them.
func TestResetAccount(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(Unlimited), Points: limit(20)})
		narrow, _, err := f.CreateKey(f.ctx, f.account, "narrow", KeyTerms{Budget: limit(5)})
		require.NoError(t, err)
		f.clock.until("2026-11-20T12:00:01Z")
		require.Equal(t, Good, f.request(3).Kind)
		require.Equal(t, Good, f.requestWith(narrow, 1, nil).Kind)
		f.chargeInWrongYear(map[string]int64{f.secret: 4, narrow: 2})
		f.clock.advance(maxAccept + time.Second)
		require.EqualValues(t, 7, f.request(1).Usage.Current, "the account stays in 2036")
		require.Equal(t, map[string]int64{"2026-11": 4, "2036-06": 7}, f.months())

		r, err := f.operator().ResetAccount(f.ctx, f.account)
		require.NoError(t, err)
		require.Equal(t, Reset{Was: midnight("2036-06-01"), Is: midnight("2026-11-01"), Used: 11, Moved: 7}, r)
		require.Equal(t, map[string]int64{"2026-11": 11}, f.months())
		require.EqualValues(t, 11, f.used())

		f.clock.advance(maxAccept + time.Second)
		require.Equal(t, &Usage{Current: 12, Limit: 20}, f.request(1).Usage)
		d := f.requestWith(narrow, 3, nil)
		require.Equal(t, Insufficient, d.Kind, "of the budget of 5, 3 are used")
		require.EqualValues(t, 2, d.Remaining)
		require.Equal(t, Good, f.requestWith(narrow, 2, nil).Kind)
		require.Equal(t, Insufficient, f.request(7).Kind)

		f.clock.until("2026-12-01T00:00:00Z")
		require.Equal(t, &Usage{Current: 15, Limit: 20}, f.request(15).Usage, "the next month refills")
		require.Equal(t, Good, f.requestWith(narrow, 5, nil).Kind, "the budget refills too")
		require.Equal(t, map[string]int64{"2026-11": 14, "2026-12": 20}, f.months())
	})
}

// In the current month a reset keeps the points, including a change by an operator,
// and fills the bucket.
func TestResetInCurrentMonth(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(2), Points: limit(20)})
		require.Equal(t, Good, f.request(1).Kind)
		require.Equal(t, Good, f.request(1).Kind)
		require.Equal(t, RateLimited, f.request(1).Kind)
		f.exec("UPDATE accounts SET used = 9")
		r, err := f.ResetAccount(f.ctx, f.account)
		require.NoError(t, err)
		require.Equal(t, Reset{Was: midnight("2026-11-01"), Is: midnight("2026-11-01"), Used: 9}, r)
		require.Equal(t, &Usage{Current: 10, Limit: 20}, f.request(1).Usage)

		again, err := f.ResetAccount(f.ctx, f.account)
		require.NoError(t, err)
		require.EqualValues(t, 10, again.Used, "a second reset changes nothing")
		_, err = f.ResetAccount(f.ctx, 4711)
		require.ErrorIs(t, err, ErrNoAccount)
	})
}

// A service that started while the clock was wrong uses that time for another hour.
// It must not undo a reset meanwhile.
func TestResetWhileClockIsSuspect(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(Unlimited), Points: limit(20)})
		f.request(3)
		wrong := *f
		wrong.clock = clockAt(wrongYear)
		wrong.Ledger = open(t, url, withFake(wrong.clock))
		require.EqualValues(t, 4, wrong.request(4).Usage.Current, "refilled in 2036")

		wrong.clock.set(clockAt(startTime).wall)
		wrong.request(1) // the service reads the corrected clock
		r, err := f.operator().ResetAccount(f.ctx, f.account)
		require.NoError(t, err)
		require.EqualValues(t, 8, r.Used)
		wrong.clock.advance(maxAccept + time.Second)
		require.EqualValues(t, 9, wrong.request(1).Usage.Current)
		require.EqualValues(t, 10, wrong.request(1).Usage.Current, "by the view as well")
		require.Equal(t, Insufficient, wrong.request(11).Kind)
		require.Equal(t, map[string]int64{"2026-11": 10}, f.months())

		wrong.clock.advance(confirmAfter)
		require.EqualValues(t, 11, wrong.request(1).Usage.Current)
		wrong.clock.until("2026-12-01T00:00:01Z")
		require.EqualValues(t, 1, wrong.request(1).Usage.Current)
		require.Equal(t, map[string]int64{"2026-11": 11, "2026-12": 1}, f.months())
	})
}

// Resets during charges by replicas neither lose a point nor charge one twice.
func TestResetDuringCharges(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		replicas := []*fixture{f, f.replica()}
		var resets atomic.Int64
		stop := f.resetRepeatedly(&resets)
		const clients, each = 8, 40
		inParallel(clients, func(i int) {
			for n := range each {
				if n == each/2 {
					f.exec("UPDATE accounts SET month = month + 5")
				}
				replicas[i%2].requestUntilGood()
			}
		})
		stop()
		require.Positive(t, resets.Load())
		// If the machine stalls, a charge may be undecided, and is given back later.
		require.EventuallyWithT(t, func(t *assert.CollectT) {
			_, err := f.ResetAccount(f.ctx, f.account)
			assert.NoError(t, err)
			assert.Equal(t, map[string]int64{"2026-11": clients * each}, f.months())
			assert.EqualValues(t, clients*each, f.used())
		}, hung, 50*time.Millisecond)
	})
}

// resetRepeatedly resets the account by another ledger until stop is called.
func (f *fixture) resetRepeatedly(done *atomic.Int64) (stop func()) {
	operator, ending, ended := f.operator(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if _, err := operator.ResetAccount(f.ctx, f.account); err == nil {
				done.Add(1)
			}
			select {
			case <-ending:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() { close(ending); <-ended }
}

// requestUntilGood retries while the database is unavailable.
func (f *fixture) requestUntilGood() {
	for range 6000 {
		if d, err := f.tryRequest(f.ctx, f.secret, 1, nil); err == nil && d.Kind == Good {
			return
		}
		time.Sleep(20 * time.Millisecond) // real time: a pause between retries
	}
	f.Errorf("no request got a response")
}

// A charge that is voided after a reset is subtracted from the month that the reset
// moved it to.
func TestResetBeforeVoid(t *testing.T) {
	now := clockAt(startTime).wall
	present, ahead := monthOf(now), monthOf(clockAt(wrongYear).wall)
	c := &chargeOp{ticket: &ticket{request: &Request{accountID: 1, keyID: 2}, Charge: Charge{Points: 3}}, month: ahead, day: DayOf(ahead.begin())}
	ws := newWorkingSet()
	ws.now, ws.month = now, present
	ws.accounts[1] = &accountState{id: 1, consumption: consumption{month: present, used: 10}}
	ws.keys[2] = &keyState{id: 2, account: 1, consumption: consumption{month: present, used: 5}}
	(&voidOp{charge: c}).decide(ws)
	require.EqualValues(t, 7, ws.accounts[1].used)
	require.EqualValues(t, 2, ws.keys[2].used)
	require.Equal(t, map[usageKey]Tally{{1, 2, DayOf(now)}: {Points: -3}}, ws.usage)
}
