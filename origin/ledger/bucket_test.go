package ledger

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTakeTellsAStory(t *testing.T) {
	const ms = int64(time.Millisecond)
	now, tat := int64(1_000_000)*ms, int64(0)
	take := func() (wait time.Duration) {
		tat, wait = take(tat, now, 5)
		return wait
	}
	for range 5 {
		require.Zero(t, take(), "a bucket that was never used is full")
	}
	require.Equal(t, 200*time.Millisecond, take(), "the next token comes a fifth of a second later")
	now += 150 * ms
	require.Equal(t, 50*time.Millisecond, take(), "a refusal puts nothing off")
	now += 50 * ms
	require.Zero(t, take())
	require.Equal(t, 200*time.Millisecond, take())
	now += 1_000_000 * ms
	for range 5 {
		require.Zero(t, take())
	}
	require.NotZero(t, take(), "a long rest fills the bucket and no more")
	now -= 500_000 * ms
	require.Equal(t, 200*time.Millisecond, take(), "a clock set back leaves an empty bucket, not a shut account")
}

// An empty bucket fills again from the moment to which the clock is set back.
func TestBucketWhenTheClockIsSetBack(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(2), Points: limit(Unlimited)})
		require.Equal(t, Admitted, b.ask(1).Verdict)
		require.Equal(t, Admitted, b.ask(1).Verdict)
		b.clock.advance(-time.Hour)
		require.Equal(t, RateLimited, b.ask(1).Verdict)
		b.clock.advance(500 * time.Millisecond)
		require.Equal(t, Admitted, b.ask(1).Verdict)
		require.Equal(t, RateLimited, b.ask(1).Verdict)
	})
}

func TestTakeUnlimited(t *testing.T) {
	tat, wait := take(7, 1, Unlimited)
	require.EqualValues(t, 7, tat)
	require.Zero(t, wait)
}

// A bucket kept as a number of tokens, the way text books draw it, admits the
// same requests. Times are multiples of the interval's tenth, so that it
// counts exactly too.
func TestTakeEqualsACountingBucket(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, rate := range []int64{1, 2, 5, 10, 1000} {
		tenth := int64(time.Second) / rate / 10
		now, tat := int64(1e18), int64(0)
		tenths := rate * 10 // of a token
		for range 5000 {
			step := random.Int64N(25)
			now += step * tenth
			tenths = min(tenths+step, rate*10)
			next, wait := take(tat, now, rate)
			require.Equal(t, tenths >= 10, wait == 0)
			if tat = next; wait == 0 {
				tenths -= 10
			} else {
				require.Equal(t, (10-tenths)*tenth, int64(wait))
			}
		}
	}
}
