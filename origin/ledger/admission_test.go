package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A free account's morning: each verdict in turn, told with the contract's numbers.
func TestAdmitTellsAStory(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(1), Points: limit(10)})

		a := b.ask(4)
		require.Equal(t, Admitted, a.Verdict)
		require.Equal(t, b.account, a.Account)
		require.Equal(t, Usage{Current: 4, Limit: 10}, a.Usage)
		require.EqualValues(t, 6, a.Remaining)

		a = b.ask(1)
		require.Equal(t, RateLimited, a.Verdict, "one token a second, and it is used")
		require.Equal(t, time.Second, a.RetryAfter)
		require.Equal(t, Usage{Current: 4, Limit: 10}, a.Usage, "a refusal tells the usage, and costs nothing")

		b.clock.advance(time.Second)
		a = b.ask(7)
		require.Equal(t, Insufficient, a.Verdict)
		require.EqualValues(t, 6, a.Remaining)
		require.Equal(t, clockAt("2026-12-01T00:00:00Z").now.Sub(b.clock.Now()), a.RetryAfter)

		require.Equal(t, RateLimited, b.ask(1).Verdict, "a request that ended in 402 has taken its token")

		b.clock.advance(time.Second)
		require.Equal(t, Admitted, b.ask(6).Verdict, "to the last point")
		require.EqualValues(t, 10, b.used())
		require.Equal(t, Tally{Points: 10, Requests: 3, Errors: 1}, b.history())
	})
}

func TestAdmitRefusesKeysInOrder(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(1), Points: limit(0)})
		mistyped := b.secret[:10] + "!" + b.secret[11:]
		for name, secret := range map[string]string{"empty": "", "mistyped": mistyped, "never made": NewKey()} {
			require.Equal(t, Admission{Verdict: UnknownKey}, b.send(Request{Key: secret, Points: 1}), name)
		}
		require.Equal(t, Insufficient, b.ask(1).Verdict, "unknown keys take no token")
		require.Equal(t, RateLimited, b.ask(1).Verdict, "the rate goes before the points")
		require.NoError(t, b.RevokeKey(b.ctx, b.account, b.key.ID))
		require.Equal(t, UnknownKey, b.ask(1).Verdict, "the key goes before the rate")
	})
}

// Bad input takes a token and costs nothing.
func TestAdmitWithoutPrice(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, url string) {
		b := begin(t, url, Terms{Rate: limit(1), Points: limit(0)})
		a := b.ask(0)
		require.Equal(t, Admitted, a.Verdict)
		require.Equal(t, a.Usage, b.settle(a, Settlement{Failed: true}), "there is nothing to settle")
		require.Equal(t, RateLimited, b.ask(0).Verdict)
		require.Equal(t, Tally{Requests: 1, Errors: 1}, b.history())
	})
}
