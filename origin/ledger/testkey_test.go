package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

// testKey creates a test key of the fixture's account.
func (f *fixture) testKey() (secret string, k book.Key) {
	f.Helper()
	return must2(f.CreateTestKey(f.ctx, f.account, "ci", book.KeyTerms{}))(f)
}

// test runs a request with a test key and returns the decision of Begin.
func (f *fixture) test(secret string) Decision {
	f.Helper()
	r, d := must2(f.Begin(f.ctx, secret, ""))(f)
	if r != nil {
		require.True(f, r.Test())
		r.WorkRefused()
		r.End()
	}
	return d
}

// Requests with test keys, also those that failed after work, leave no trace in the database:
// neither points nor tokens nor a day of the history. The account has one request a second, of
// which tests take nothing, and one point, which is left.
func TestTestKeysCostNothing(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		var counter storetest.Counter
		f := newFixture(t, url, book.Terms{Rate: limit(1), Points: limit(1)}, WithStore(counter.Wrap))
		secret, _ := f.testKey()
		counter.Take()
		for range book.FreeRate {
			d := f.test(secret)
			require.Equal(t, Good, d.Kind)
			require.Equal(t, Usage{Limit: 1}, *d.Usage)
		}
		for name := range counter.Take().Statements {
			require.NotContains(t, []string{"put_account", "put_key", "add_usage", "put_answer"}, name)
		}
		f.awaitTallies()
		require.Equal(t, Good, f.request(1).Kind, "the account's token and point are left")
		require.Equal(t, book.Tally{Points: 1, Requests: 1, Found: book.Found{Valid: 1}}, f.history(), "only the request that was charged")
	})
}

// An account sends 100 requests a second to a replica with test keys, whatever its rate is
// and however many test keys it has.
func TestRateOfTestKeys(t *testing.T) {
	f := newFixture(t, emptyLike(t, "sqlite:"), book.Terms{Rate: limit(1), Points: limit(0)})
	first, _ := f.testKey()
	second, _ := f.testKey()
	for n := range book.FreeRate {
		d := f.test([]string{first, second}[n%2])
		require.Equal(t, Good, d.Kind)
		require.EqualValues(t, book.FreeRate, d.Quota.Rate)
		require.EqualValues(t, book.FreeRate-n-1, d.Quota.Tokens)
	}
	d := f.test(second)
	require.Equal(t, RateLimited, d.Kind)
	require.Equal(t, time.Second/book.FreeRate, d.RetryAfter)
	require.False(t, f.Forwards(f.ctx, first, ""), "Begin refuses it")
	f.clock.advance(time.Second / book.FreeRate)
	require.True(t, f.Forwards(f.ctx, first, ""))
	require.True(t, f.Forwards(f.ctx, first, ""), "it takes no token")
	require.Equal(t, Good, f.test(first).Kind)
	require.Equal(t, RateLimited, f.test(first).Kind)
	f.mustBegin().End() // requests with other keys have their own tokens
}

// A request with a test key holds one of its account's slots, and cannot claim points.
func TestTestKeysTakeSlots(t *testing.T) {
	f := newFixture(t, emptyLike(t, "sqlite:"), book.Terms{Rate: limit(book.Unlimited), Points: limit(5)})
	secret, _ := f.testKey()
	r, _ := must2(f.Begin(f.ctx, secret, ""))(t)
	_, err := r.Claim(1, nil)
	require.ErrorIs(t, err, errTest)
	_, err = r.Charge(Charge{Points: 1})
	require.ErrorIs(t, err, errPoints)
	require.EqualValues(t, book.FreeRate, must(r.Inspect())(t).Quota.Rate)
	for range maxInProgress - 1 {
		defer f.mustBegin().End()
	}
	require.Equal(t, Busy, f.test(secret).Kind)
	r.End()
	require.Equal(t, Good, f.test(secret).Kind)
}

// Whether a key is a test key never changes, and is seen by every replica.
func TestTestKeysRemainTestKeys(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		other := f.replica()
		_, k := f.testKey()
		require.True(t, k.Test)
		rotated, after := must2(f.RotateKey(f.ctx, f.account, k.ID, 0))(t)
		require.True(t, after.Test)
		name := "renamed"
		require.NoError(t, f.ChangeKey(f.ctx, f.account, k.ID, book.KeyChange{Name: &name, Terms: &book.KeyTerms{}}))
		require.Equal(t, Good, other.test(rotated).Kind)
		for _, terms := range []book.KeyTerms{{Budget: limit(5)}, {Rate: limit(5)}} {
			var refused *book.FieldError
			require.ErrorAs(t, f.ChangeKey(f.ctx, f.account, k.ID, book.KeyChange{Terms: &terms}), &refused)
			_, _, err := f.CreateTestKey(f.ctx, f.account, "ci", terms)
			require.ErrorAs(t, err, &refused)
		}
		require.False(t, must(f.Key(f.ctx, f.account, f.key.ID))(t).Test)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, k.ID))
		require.Equal(t, UnknownKey, f.test(rotated).Kind)
		lines := must(f.AuditLog(f.ctx, f.account, 0, 1))(t)
		require.Equal(t, "2 renamed (test)", lines[0].Subject)
	})
}
