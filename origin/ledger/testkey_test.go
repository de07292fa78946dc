package ledger

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

// testKey creates a test key of the fixture's account.
func (f *fixture) testKey(terms book.KeyTerms) (secret string, k book.Key) {
	f.Helper()
	return must2(f.CreateTestKey(f.ctx, f.account, "ci", terms))(f)
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
		secret, _ := f.testKey(book.KeyTerms{})
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
		var rows string
		f.queryRow("SELECT (SELECT sum(used + tat_ns) FROM accounts) || ' ' || (SELECT sum(used + tat_ns) FROM keys) || ' ' || (SELECT count(*) FROM usage) || ' ' || (SELECT count(*) FROM answers)", &rows)
		require.Equal(t, "0 0 0 0", rows)
		require.Equal(t, Good, f.request(1).Kind, "the account's token and point are left")
		require.Equal(t, book.Tally{Points: 1, Requests: 1, Found: book.Found{Valid: 1}}, f.history(), "only the request that was charged")
	})
}

// An account sends 100 requests a second to a replica with test keys, whatever its rate is
// and however many test keys it has.
func TestRateOfTestKeys(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, book.Terms{Rate: limit(1), Points: limit(0)})
		first, _ := f.testKey(book.KeyTerms{})
		second, _ := f.testKey(book.KeyTerms{})
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
	})
}

// A test key is refused as every other key is.
func TestTestKeysAreRefused(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		revoked, k := f.testKey(book.KeyTerms{})
		expiring, _ := f.testKey(book.KeyTerms{Expires: f.clock.Now().Add(time.Hour)})
		bound, _ := f.testKey(book.KeyTerms{Origins: []string{"https://shop.example"}})
		plain, _ := f.testKey(book.KeyTerms{})
		require.Equal(t, Good, f.test(revoked).Kind)
		require.Equal(t, Good, f.test(expiring).Kind)
		require.Equal(t, WrongOrigin, f.test(bound).Kind)
		require.False(t, f.Forwards(f.ctx, bound, ""))
		require.True(t, f.Forwards(f.ctx, bound, "https://shop.example"))

		require.NoError(t, f.RevokeKey(f.ctx, f.account, k.ID))
		require.Equal(t, UnknownKey, f.test(revoked).Kind)
		f.clock.advance(time.Hour)
		require.Equal(t, UnknownKey, f.test(expiring).Kind)
		require.Equal(t, Good, f.test(plain).Kind)
		require.NoError(t, f.SuspendAccount(f.ctx, f.account))
		require.Equal(t, UnknownKey, f.test(plain).Kind)
		require.False(t, f.Forwards(f.ctx, plain, ""))
	})
}

// A request with a test key holds one of its account's slots, and cannot claim points.
func TestTestKeysTakeSlots(t *testing.T) {
	f := newFixture(t, emptyLike(t, "sqlite:"), book.Terms{Rate: limit(book.Unlimited), Points: limit(5)})
	secret, _ := f.testKey(book.KeyTerms{})
	r, _ := must2(f.Begin(f.ctx, secret, ""))(t)
	_, err := r.Claim(1, nil)
	require.ErrorIs(t, err, errTest)
	_, err = r.Charge(Charge{Points: 1})
	require.ErrorIs(t, err, errPoints)
	require.EqualValues(t, book.FreeRate, must(r.Inspect())(t).Quota.Rate)
	var open []*Request
	for range maxInProgress - 1 {
		open = append(open, f.mustBegin())
	}
	require.Equal(t, Busy, f.test(secret).Kind)
	r.End()
	require.Equal(t, Good, f.test(secret).Kind)
	for _, r := range open {
		r.End()
	}
}

// Whether a key is a test key never changes, and is seen by every replica.
func TestTestKeysRemainTestKeys(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f, list := newReplicas(t, url, unlimitedTerms, 2)
		_, k := f.testKey(book.KeyTerms{})
		require.True(t, k.Test)
		rotated, after := must2(f.RotateKey(f.ctx, f.account, k.ID, 0))(t)
		require.True(t, after.Test)
		require.Equal(t, Good, list[1].test(rotated).Kind)
		name := "renamed"
		require.NoError(t, f.ChangeKey(f.ctx, f.account, k.ID, book.KeyChange{Name: &name, Terms: &book.KeyTerms{}}))
		require.True(t, must(list[1].Key(f.ctx, f.account, k.ID))(t).Test)
		for _, terms := range []book.KeyTerms{{Budget: limit(5)}, {Rate: limit(5)}} {
			var refused *book.FieldError
			require.ErrorAs(t, f.ChangeKey(f.ctx, f.account, k.ID, book.KeyChange{Terms: &terms}), &refused)
			_, _, err := f.CreateTestKey(f.ctx, f.account, "ci", terms)
			require.ErrorAs(t, err, &refused)
		}
		require.False(t, must(f.Key(f.ctx, f.account, f.key.ID))(t).Test)
		lines := must(f.AuditLog(f.ctx, f.account, 0, 100))(t)
		require.True(t, slices.ContainsFunc(lines, func(l book.AuditLine) bool { return l.Action == "key.create" && l.Subject == "2 ci (test)" }))
	})
}
