package state

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
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
	unlimited, wait := takeToken(7, now, now, book.Unlimited, 0)
	require.EqualValues(t, 7, unlimited)
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
			tat = next
			if wait == 0 {
				tenths -= 10
			} else {
				require.Equal(t, (10-tenths)*tenth, int64(wait))
			}
		}
	}
}

// Tokens may reach the bucket late and in any order. Counted by arrival, at most
// capacity + rate x (T + Lateness) of them are taken in any time T.
func TestTakeTokenBoundByArrival(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, rate := range []int64{1, 5, 40, 100} {
		start, tat := time.Unix(1e9, 0), int64(0)
		var taken []time.Duration // some out of order
		for now := time.Duration(0); now < 20*time.Second; now += time.Duration(random.Int64N(intervalOf(rate))) {
			arrival := now - time.Duration(random.Int64N(int64(Lateness)))
			next, wait := takeToken(tat, start.Add(arrival), start.Add(now), rate, Lateness)
			tat = next
			if wait == 0 {
				taken = append(taken, arrival)
			}
		}
		requireBound(t, taken, rate)
		require.Greater(t, len(taken), int(17*rate)-1, "tokens are lost")
	}
}

// requireBound checks arrivals against the contract: in any time T at most capacity
// + rate x (T + a tenth of a second). It checks times that begin with an arrival.
func requireBound(t *testing.T, arrivals []time.Duration, rate int64) {
	t.Helper()
	for _, first := range arrivals {
		for _, d := range []time.Duration{0, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, 7 * time.Second} {
			count := 0
			for _, a := range arrivals {
				if a >= first && a <= first+d {
					count++
				}
			}
			most := float64(rate) * (1 + (d + 100*time.Millisecond).Seconds())
			require.LessOrEqual(t, float64(count), most+1e-6, "%d/s, %s from %s", rate, d, first)
		}
	}
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

func TestTokensLeft(t *testing.T) {
	now := time.Unix(1000, 0)
	at := func(d time.Duration) int64 { return now.Add(d).UnixNano() }
	require.EqualValues(t, book.Unlimited, tokensLeft(0, now, book.Unlimited))
	require.EqualValues(t, 4, tokensLeft(at(-time.Hour), now, 4), "full")
	require.EqualValues(t, 3, tokensLeft(at(250*time.Millisecond), now, 4))
	require.EqualValues(t, 2, tokensLeft(at(251*time.Millisecond), now, 4))
	require.EqualValues(t, 0, tokensLeft(at(time.Second), now, 4))
	require.EqualValues(t, 0, tokensLeft(at(1100*time.Millisecond), now, 4), "overdrawn")
}
