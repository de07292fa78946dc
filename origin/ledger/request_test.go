package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// A free account gets the common verdicts one after the other.
func TestRequest(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(1), Points: limit(10)})

		d := f.request(4)
		require.Equal(t, Good, d.Verdict)
		require.Equal(t, &Usage{Current: 4, Limit: 10}, d.Usage)
		require.EqualValues(t, 6, d.Remaining)

		d = f.request(1)
		require.Equal(t, RateLimited, d.Verdict, "the only token of this second is used")
		require.Equal(t, time.Second, d.RetryAfter)
		require.Equal(t, &Usage{Current: 4, Limit: 10}, d.Usage, "a refusal shows the usage and charges nothing")

		f.clock.advance(time.Second)
		d = f.request(7)
		require.Equal(t, Insufficient, d.Verdict)
		require.EqualValues(t, 6, d.Remaining)
		require.Equal(t, clockAt("2026-12-01T00:00:00Z").wall.Sub(f.clock.Now()), d.RetryAfter)

		require.Equal(t, RateLimited, f.request(1).Verdict, "a request without enough points takes a token")

		f.clock.advance(time.Second)
		require.Equal(t, Good, f.request(6).Verdict, "the last points can be used")
		f.requireHistory(Tally{Points: 10, Requests: 3, Errors: 1})
	})
}

func TestKeysAreJudgedFirst(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(1), Points: limit(0)})
		mistyped := f.secret[:10] + "!" + f.secret[11:]
		for name, secret := range map[string]string{"empty": "", "mistyped": mistyped, "unknown": NewSecret()} {
			require.Equal(t, Decision{Verdict: UnknownKey}, f.requestWith(secret, 1, nil), name)
		}
		require.Equal(t, Insufficient, f.request(1).Verdict, "unknown keys take no token")
		require.Equal(t, RateLimited, f.request(1).Verdict, "the rate precedes the points")
		require.NoError(t, f.RevokeKey(f.ctx, f.account, f.key.ID))
		require.Equal(t, UnknownKey, f.request(1).Verdict, "the key precedes the rate")
	})
}

// A request with bad input claims no points: it takes a token and is not charged.
func TestRequestWithoutPoints(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(1), Points: limit(0)})
		require.Equal(t, Good, f.request(0).Verdict)
		require.Equal(t, RateLimited, f.request(0).Verdict)
		f.requireHistory(Tally{Requests: 1, Errors: 1})
	})
}

func TestPointsOutOfBounds(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/x.db", unlimitedTerms)
	for _, claim := range []int64{-1, maxClaim + 1} {
		r := f.mustBegin()
		_, err := r.Claim(claim, nil)
		require.ErrorIs(t, err, errPoints)
		r.End()
	}
	r := f.mustBegin()
	defer r.End()
	d, err := r.Claim(5, nil)
	require.NoError(t, err)
	require.Equal(t, Good, d.Verdict)
	for _, points := range []int64{-1, 0, 6} {
		_, err = r.Charge(Charge{Points: points})
		require.ErrorIs(t, err, errPoints)
	}
	_, err = r.Claim(5, nil)
	require.ErrorIs(t, err, errPoints, "a second claim")
	_, err = r.Charge(Charge{Points: 3})
	require.NoError(t, err)
	_, err = r.Charge(Charge{Points: 1})
	require.ErrorIs(t, err, errPoints, "a second charge")
	require.EqualValues(t, 3, f.used())
}
