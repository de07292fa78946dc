package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// Begin and Inspect return what is left for the next request.
func TestQuota(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(3), Points: limit(10)})
		refill := clockAt("2026-12-01T00:00:00Z").wall.Sub(clockAt(startTime).wall)
		r, d, err := f.Begin(f.ctx, f.secret, "")
		require.NoError(t, err)
		defer r.End()
		require.Equal(t, &Quota{Rate: 3, Tokens: 2, Refill: refill}, d.Quota)
		for range 2 {
			f.request(1)
		}
		_, d, err = f.Begin(f.ctx, f.secret, "")
		require.NoError(t, err)
		require.Equal(t, RateLimited, d.Verdict)
		require.Equal(t, &Quota{Rate: 3, Tokens: 0, Refill: refill}, d.Quota)

		f.clock.advance(time.Second * 2 / 3)
		d, err = r.Inspect()
		require.NoError(t, err)
		require.Equal(t, Good, d.Verdict)
		require.Equal(t, &Usage{Current: 2, Limit: 10}, d.Usage)
		require.Equal(t, &Quota{Rate: 3, Tokens: 2, Refill: refill - time.Second*2/3}, d.Quota)
	})
}

// Inspect returns charges by another replica, and refuses a key revoked there.
func TestInspectIsFresh(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		other := f.replica()
		r := f.mustBegin()
		defer r.End()
		require.Equal(t, Good, other.request(7).Verdict)
		d, err := r.Inspect()
		require.NoError(t, err)
		require.EqualValues(t, 7, d.Usage.Current)
		require.NoError(t, other.RevokeKey(f.ctx, f.account, f.key.ID))
		d, err = r.Inspect()
		require.NoError(t, err)
		require.Equal(t, Decision{Verdict: UnknownKey}, d)
	})
}

func TestTokensLeft(t *testing.T) {
	now := time.Unix(1000, 0)
	at := func(d time.Duration) int64 { return now.Add(d).UnixNano() }
	require.EqualValues(t, Unlimited, tokensLeft(0, now, Unlimited))
	require.EqualValues(t, 4, tokensLeft(at(-time.Hour), now, 4), "full")
	require.EqualValues(t, 3, tokensLeft(at(250*time.Millisecond), now, 4))
	require.EqualValues(t, 2, tokensLeft(at(251*time.Millisecond), now, 4))
	require.EqualValues(t, 0, tokensLeft(at(time.Second), now, 4))
	require.EqualValues(t, 0, tokensLeft(at(1100*time.Millisecond), now, 4), "overdrawn")
}
