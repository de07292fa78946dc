package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A flood over the rate reaches the database once in fenceHeight.
func TestFenceTurnsAFloodAway(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(1), Points: limit(10)})
		require.Equal(t, Admitted, b.ask(1).Verdict)
		before := b.Stats()
		for range 1000 {
			a := b.ask(1)
			require.Equal(t, RateLimited, a.Verdict)
			require.Equal(t, time.Second, a.RetryAfter)
			require.Equal(t, Usage{Current: 1, Limit: 10}, a.Usage)
		}
		require.EqualValues(t, 1, b.Stats().Operations-before.Operations)
		require.EqualValues(t, 999, b.Stats().Fenced)

		b.clock.advance(fenceHeight - 1)
		require.Equal(t, time.Second-fenceHeight+1, b.ask(1).RetryAfter, "the wait is counted down behind the fence")
		require.EqualValues(t, 1000, b.Stats().Fenced)
		b.clock.advance(1)
		require.Equal(t, time.Second-fenceHeight, b.ask(1).RetryAfter)
		require.EqualValues(t, 1000, b.Stats().Fenced, "the database was asked")

		b.clock.set(noon)
		b.clock.advance(time.Second)
		require.Equal(t, Admitted, b.ask(1).Verdict, "the fence is down when the token comes")
	})
}

// Another process revokes the key while its fence stands: refused all the
// same, and for the right reason once fenceHeight is over.
func TestFenceAndRevocationElsewhere(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(1), Points: limit(10)})
		elsewhere := open(t, url, WithClock(b.clock.Now))
		b.ask(1)
		require.Equal(t, RateLimited, b.ask(1).Verdict)
		require.NoError(t, elsewhere.RevokeKey(b.ctx, b.account, b.key.ID))
		require.Equal(t, RateLimited, b.ask(1).Verdict)
		b.clock.advance(fenceHeight)
		require.Equal(t, UnknownKey, b.ask(1).Verdict)
	})
}

func TestFenceIsLow(t *testing.T) {
	clock := clockAt(noon)
	f := newFence(clock.Now)
	key := digest{1}
	f.raise(key, Admission{RetryAfter: 10 * time.Millisecond})
	clock.advance(10 * time.Millisecond)
	_, stands := f.refuses(key)
	require.False(t, stands, "it never outlasts the wait for a token")

	f.raise(key, Admission{RetryAfter: time.Second})
	clock.advance(-time.Hour)
	_, stands = f.refuses(key)
	require.False(t, stands, "nor a clock that is set back")
}

func TestFenceIsBounded(t *testing.T) {
	f := newFence(time.Now)
	for i := range fencePosts + 10 {
		f.raise(digest{byte(i), byte(i >> 8), byte(i >> 16)}, Admission{RetryAfter: time.Second})
	}
	require.LessOrEqual(t, len(f.posts), fencePosts)
}
