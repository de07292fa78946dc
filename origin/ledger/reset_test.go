package ledger

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wrongYear is what a clock said that was wrong.
const wrongYear = "2036-06-15T12:00:00Z"

// spoil has a replica whose clock is wrong charge points, so that the account
// and its keys go on to a month in years to come.
func (b *bench) spoil(secrets map[string]int64) {
	b.Helper()
	l, err := Open(b.ctx, b.url, withFake(clockAt(wrongYear)))
	require.NoError(b, err)
	defer l.Close()
	wrong := *b
	wrong.Ledger = l
	for secret, points := range secrets {
		require.Equal(b, Good, wrong.send(secret, points, nil).Verdict)
	}
}

// operator is another process, which knows nothing of the past: the command.
func (b *bench) operator() *Ledger { return open(b.T, b.url, withFake(clockAt(noon))) }

// months sums the usage history by month.
func (b *bench) months() map[string]int64 {
	b.Helper()
	days, err := b.UsageHistory(b.ctx, b.account, 0, 1_000_000)
	require.NoError(b, err)
	sum := map[string]int64{}
	for _, d := range days {
		sum[d.Day.Time().Format("2006-01")] += d.Points
	}
	return sum
}

func first(day string) time.Time { return clockAt(day + "T00:00:00Z").wall }

// A clock that was wrong has put the account and its keys into a month years
// ahead, where nothing is refilled. Reset puts them back while the service runs;
// points are neither lost nor charged twice, and the history sums to them.
func TestResetPutsAnAccountBack(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(20)})
		narrow, _, err := b.CreateKey(b.ctx, b.account, "narrow", KeyTerms{Budget: limit(5)})
		require.NoError(t, err)
		b.clock.until("2026-11-20T12:00:01Z")
		require.Equal(t, Good, b.ask(3).Verdict)
		require.Equal(t, Good, b.send(narrow, 1, nil).Verdict)
		b.spoil(map[string]int64{b.secret: 4, narrow: 2})
		b.clock.advance(maxAccept + time.Second)
		require.EqualValues(t, 7, b.ask(1).Usage.Current, "goes on in 2036")
		require.Equal(t, map[string]int64{"2026-11": 4, "2036-06": 7}, b.months())

		r, err := b.operator().ResetAccount(b.ctx, b.account)
		require.NoError(t, err)
		require.Equal(t, Reset{Was: first("2036-06-01"), Is: first("2026-11-01"), Used: 11, Moved: 7}, r)
		require.Equal(t, map[string]int64{"2026-11": 11}, b.months())
		require.EqualValues(t, 11, b.used())

		b.clock.advance(maxAccept + time.Second)
		require.Equal(t, &Usage{Current: 12, Limit: 20}, b.ask(1).Usage)
		d := b.send(narrow, 3, nil)
		require.Equal(t, Insufficient, d.Verdict, "of the budget of 5, 3 are used")
		require.EqualValues(t, 2, d.Remaining)
		require.Equal(t, Good, b.send(narrow, 2, nil).Verdict)
		require.Equal(t, Insufficient, b.ask(7).Verdict)

		b.clock.until("2026-12-01T00:00:00Z")
		require.Equal(t, &Usage{Current: 15, Limit: 20}, b.ask(15).Usage, "the next month refills")
		require.Equal(t, Good, b.send(narrow, 5, nil).Verdict, "the budget, too")
		require.Equal(t, map[string]int64{"2026-11": 14, "2026-12": 20}, b.months())
	})
}

// In the right month, points stay as they are, also those that somebody has
// changed by hand; the bucket is full.
func TestResetInTheRightMonth(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(2), Points: limit(20)})
		require.Equal(t, Good, b.ask(1).Verdict)
		require.Equal(t, Good, b.ask(1).Verdict)
		require.Equal(t, RateLimited, b.ask(1).Verdict)
		b.sql("UPDATE accounts SET used = 9")
		r, err := b.ResetAccount(b.ctx, b.account)
		require.NoError(t, err)
		require.Equal(t, Reset{Was: first("2026-11-01"), Is: first("2026-11-01"), Used: 9}, r)
		require.Equal(t, &Usage{Current: 10, Limit: 20}, b.ask(1).Usage)

		again, err := b.ResetAccount(b.ctx, b.account)
		require.NoError(t, err)
		require.EqualValues(t, 10, again.Used, "twice is as once")
		_, err = b.ResetAccount(b.ctx, 4711)
		require.ErrorIs(t, err, ErrNoAccount)
	})
}

// A service that was started while the clock was wrong goes by that time for
// another hour. It must not undo a reset meanwhile.
func TestResetHoldsInAServiceThatDoubtsTheClock(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(Unlimited), Points: limit(20)})
		b.ask(3)
		wrong := *b
		wrong.clock = clockAt(wrongYear)
		wrong.Ledger = open(t, url, withFake(wrong.clock))
		require.EqualValues(t, 4, wrong.ask(4).Usage.Current, "refilled in 2036")

		wrong.clock.set(clockAt(noon).wall)
		wrong.ask(1) // the service sees the jump
		r, err := b.operator().ResetAccount(b.ctx, b.account)
		require.NoError(t, err)
		require.EqualValues(t, 8, r.Used)
		wrong.clock.advance(maxAccept + time.Second)
		require.EqualValues(t, 9, wrong.ask(1).Usage.Current)
		require.EqualValues(t, 10, wrong.ask(1).Usage.Current, "also by what it remembers")
		require.Equal(t, Insufficient, wrong.ask(11).Verdict)
		require.Equal(t, map[string]int64{"2026-11": 10}, b.months())

		wrong.clock.advance(confirmAfter)
		require.EqualValues(t, 11, wrong.ask(1).Usage.Current)
		wrong.clock.until("2026-12-01T00:00:01Z")
		require.EqualValues(t, 1, wrong.ask(1).Usage.Current)
		require.Equal(t, map[string]int64{"2026-11": 11, "2026-12": 1}, b.months())
	})
}

// Resets while replicas charge lose and double no point.
func TestResetWhileRequestsAreCharged(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, plenty)
		replicas := []*bench{b, b.elsewhere()}
		var resets atomic.Int64
		stop := b.resetAgainAndAgain(&resets)
		const clients, each = 8, 40
		together(clients, func(i int) {
			for n := range each {
				if n == each/2 {
					b.sql("UPDATE accounts SET month = month + 5")
				}
				replicas[i%2].askUntilGood()
			}
		})
		stop()
		require.Positive(t, resets.Load())
		// A charge that was undecided, on a machine that stalled, is given back later.
		require.EventuallyWithT(t, func(t *assert.CollectT) {
			_, err := b.ResetAccount(b.ctx, b.account)
			assert.NoError(t, err)
			assert.Equal(t, map[string]int64{"2026-11": clients * each}, b.months())
			assert.EqualValues(t, clients*each, b.used())
		}, 20*time.Second, 50*time.Millisecond)
	})
}

// resetAgainAndAgain resets the account as another process until stop is called.
func (b *bench) resetAgainAndAgain(done *atomic.Int64) (stop func()) {
	operator, ending, ended := b.operator(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if _, err := operator.ResetAccount(b.ctx, b.account); err == nil {
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

// askUntilGood asks again while the database hangs, which charges nobody.
func (b *bench) askUntilGood() {
	for range 100 {
		if d, err := b.try(b.ctx, b.secret, 1, nil); err == nil && d.Verdict == Good {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.Errorf("no request was answered")
}

// A charge that is given back after a reset is taken off the month that it was
// moved to.
func TestResetMovesWhatIsGivenBackLater(t *testing.T) {
	now := clockAt(noon).wall
	present, ahead := monthOf(now), monthOf(clockAt(wrongYear).wall)
	c := &charging{ticket: &ticket{request: &Request{accountID: 1, keyID: 2}, Charge: Charge{Points: 3}}, month: ahead, day: DayOf(ahead.begin())}
	b := newBook()
	b.now, b.month = now, present
	b.accounts[1] = &accountState{id: 1, consumption: consumption{month: present, used: 10}}
	b.keys[2] = &keyState{id: 2, account: 1, consumption: consumption{month: present, used: 5}}
	(&voiding{charge: c}).decide(b)
	require.EqualValues(t, 7, b.accounts[1].used)
	require.EqualValues(t, 2, b.keys[2].used)
	require.Equal(t, map[usageKey]Tally{{1, 2, DayOf(now)}: {Points: -3}}, b.usage)
}
