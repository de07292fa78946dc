package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

func TestChangeKey(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		other := f.replica()
		require.Equal(t, Good, f.request(3).Kind)
		name := "renamed"
		expires := f.clock.Now().Add(time.Hour)
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, book.KeyChange{Name: &name}))
		terms := book.KeyTerms{Expires: expires, Budget: limit(5), Rate: limit(100), Origins: []string{"HTTPS://Shop.Example:443/"}}
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, book.KeyChange{Terms: &terms}))

		k := must(f.Key(f.ctx, f.account, f.key.ID))(t)
		require.Equal(t, "renamed", k.Name)
		require.Equal(t, book.KeyTerms{Expires: expires, Budget: limit(5), Rate: limit(100), Origins: []string{"https://shop.example"}}, k.KeyTerms)
		require.EqualValues(t, 3, k.Used, "a new budget includes the month's points before it")
		terms.Origins = nil
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, book.KeyChange{Terms: &terms}))

		require.Equal(t, Insufficient, other.request(3).Kind)
		require.Equal(t, Good, other.request(2).Kind)
		require.EqualValues(t, 5, must(f.Key(f.ctx, f.account, f.key.ID))(t).Used)
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, book.KeyChange{Terms: &book.KeyTerms{Budget: limit(6)}}))
		require.Equal(t, Insufficient, f.request(2).Kind, "a changed budget keeps the use")
		require.Equal(t, Good, f.request(1).Kind)
		f.clock.until("2026-12-01T00:00:00Z")
		require.Zero(t, must(f.Key(f.ctx, f.account, f.key.ID))(t).Used, "a new month")

		require.ErrorIs(t, f.ChangeKey(f.ctx, f.account+1, f.key.ID, book.KeyChange{Name: &name}), book.ErrNoKey)
		require.ErrorIs(t, f.ChangeKey(f.ctx, f.account, 4711, book.KeyChange{Name: &name}), book.ErrNoKey)
		require.ErrorIs(t, f.ChangeKey(f.ctx, f.account, 0, book.KeyChange{Name: &name}), book.ErrNoKey)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, f.key.ID))
		require.ErrorIs(t, f.ChangeKey(f.ctx, f.account, f.key.ID, book.KeyChange{Name: &name}), book.ErrRevoked)
	})
}

// A rotated key has two secrets for the grace, at most two, and stays one key: its
// budget and its idempotency records remain.
func TestRotateKey(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		other := f.replica()
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, book.KeyChange{Terms: &book.KeyTerms{Budget: limit(5 + 6)}}))
		require.Equal(t, Good, f.retryable(1, 1).Kind)
		second, k := must2(other.RotateKey(f.ctx, f.account, f.key.ID, time.Hour))(t)
		require.Equal(t, second[:8], k.Hint)
		require.Equal(t, f.clock.Now().Add(time.Hour), k.Replaced)
		again := must(f.Key(f.ctx, f.account, f.key.ID))(t)
		k.LastDay, k.Used = again.LastDay, again.Used
		require.Equal(t, k, again)
		for _, secret := range []string{f.secret, second} {
			require.Equal(t, Good, f.requestWith(secret, 1, nil).Kind)
			require.Equal(t, Replayed, f.requestWith(secret, 5, idempotency(1, 1)).Kind)
		}

		third, _ := must2(other.RotateKey(f.ctx, f.account, f.key.ID, time.Hour))(t)
		require.Equal(t, UnknownKey, f.requestWith(f.secret, 1, nil).Kind, "the first secret ends with the second rotation")
		require.Equal(t, Good, f.requestWith(second, 1, nil).Kind)
		require.Equal(t, Good, f.requestWith(third, 1, nil).Kind)
		f.clock.advance(time.Hour)
		require.Equal(t, UnknownKey, f.requestWith(second, 1, nil).Kind, "the grace is over")
		require.Equal(t, Good, f.requestWith(third, 1, nil).Kind)

		fourth, k := must2(other.RotateKey(f.ctx, f.account, f.key.ID, 0))(t)
		require.Zero(t, k.Replaced)
		require.Equal(t, UnknownKey, f.requestWith(third, 1, nil).Kind, "no grace")
		require.Equal(t, Good, f.requestWith(fourth, 1, nil).Kind)
		require.Equal(t, Insufficient, f.requestWith(fourth, 1, nil).Kind, "all secrets share the budget")
		var secrets int
		f.queryRow("SELECT count(*) FROM secrets", &secrets)
		require.Equal(t, 1, secrets, "rows of expired secrets are deleted")
		require.EqualValues(t, 5+6, f.used())

		_, _, err := f.RotateKey(f.ctx, f.account+1, f.key.ID, 0)
		require.ErrorIs(t, err, book.ErrNoKey)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, f.key.ID))
		_, _, err = f.RotateKey(f.ctx, f.account, f.key.ID, 0)
		require.ErrorIs(t, err, book.ErrRevoked)
		require.Equal(t, UnknownKey, f.requestWith(fourth, 1, nil).Kind)
	})
}

// Rotations at the same time leave at most two secrets that are valid.
func TestConcurrentRotations(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		list := []*fixture{f, f.replica()}
		secrets := make([]string, 8)
		inParallel(len(secrets), func(i int) {
			secrets[i], _ = must2(list[i%2].RotateKey(f.ctx, f.account, f.key.ID, time.Hour))(f)
		})
		valid := 0
		for _, secret := range append(secrets, f.secret) {
			if f.requestWith(secret, 1, nil).Kind == Good {
				valid++
			}
		}
		require.Equal(t, 2, valid)
	})
}

// A key that is bound to origins is refused to other pages before its rate is asked. state.TestJudgeKey
// has more of them.
func TestOriginsOfAKey(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		other := f.replica()
		secret, k := f.newKey("page", book.KeyTerms{Rate: limit(1), Origins: []string{"https://b.example:8443", "https://A.example", "https://a.example:443"}})
		require.Equal(t, []string{"https://b.example:8443", "https://a.example"}, k.Origins)
		begin := func(origin string) (*Request, Decision) {
			t.Helper()
			return must2(f.Begin(f.ctx, secret, origin))(t)
		}
		for _, origin := range []string{"", "null", "https://a.example:443", "http://a.example", " "} {
			_, d := begin(origin)
			require.Equal(t, Decision{Kind: WrongOrigin}, d, origin)
		}
		under, d := begin("https://a.example")
		require.Equal(t, Good, d.Kind, "refusals took no token")
		require.Equal(t, "https://a.example", d.AllowOrigin)
		_, d = begin("https://b.example:8443")
		require.Equal(t, RateLimited, d.Kind)
		require.Equal(t, "https://b.example:8443", d.AllowOrigin, "pages may read refusals")
		_, d = begin("https://c.example")
		require.Equal(t, WrongOrigin, d.Kind, "before the rate")
		unbound, d := must2(f.Begin(f.ctx, f.secret, "https://a.example"))(t)
		unbound.End()
		require.Empty(t, d.AllowOrigin, "the key is bound to no origin")

		f.clock.advance(time.Second)
		working, _ := begin("https://a.example")
		require.Equal(t, Good, must(working.Claim(1, nil))(t).Kind)
		k.Origins = []string{"https://c.example"}
		require.NoError(t, other.ChangeKey(f.ctx, f.account, k.ID, book.KeyChange{Terms: &k.KeyTerms}))
		require.Equal(t, WrongOrigin, must(working.Charge(Charge{Points: 1}))(t).Kind, "the transaction reads the row, although the view is fresh")
		working.End()
		require.Equal(t, WrongOrigin, must(under.Inspect())(t).Kind, "read again")
		require.Equal(t, WrongOrigin, f.finish(under, 1).Kind, "a request in progress on another replica")
		f.clock.advance(time.Second)
		r, d := begin("https://c.example")
		require.Equal(t, Good, d.Kind, "a new origin applies at once: a view that refuses is read again")
		require.Equal(t, Good, f.finish(r, 1).Kind)
		_, d = begin("https://a.example")
		require.Equal(t, WrongOrigin, d.Kind, "a commit keeps the origins of the view")
		require.NoError(t, f.RevokeKey(f.ctx, f.account, k.ID))
		_, d = begin("https://c.example")
		require.Equal(t, UnknownKey, d.Kind)
		require.Equal(t, "https://c.example", d.AllowOrigin, "the page may read why")
	})
}

// Requests of somebody who is signed in have one key of the account, which nobody can send,
// whatever replicas create it at the same time.
func TestDashboardKey(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		list := []*fixture{f, f.replica(), f.replica()}
		begin := func(i int, account int64) Kind {
			for {
				r, d, err := list[i%3].BeginDashboard(f.ctx, account)
				if isStall(err) { // on a busy machine
					continue
				}
				require.NoError(f, err)
				if r != nil {
					require.Equal(f, account, r.Account())
					r.End()
				}
				return d.Kind
			}
		}
		inParallel(15, func(i int) { require.Equal(f, Good, begin(i, f.account)) })
		require.Equal(t, []string{"1 1"}, f.strings("SELECT count(DISTINCT k.id) || ' ' || count(s.hash) FROM keys k LEFT JOIN secrets s ON s.key = k.id WHERE k.dashboard"))
		require.NoError(t, f.SuspendAccount(f.ctx, f.account))
		require.Equal(t, UnknownKey, begin(0, f.account), "suspended")
		require.Equal(t, UnknownKey, begin(0, 4711), "no account")
	})
	require.False(t, book.WellFormed("dashboard key of account 1"))
	require.Equal(t, book.DigestOf("dashboard key of account 1"), book.DashboardDigest(1))
}
