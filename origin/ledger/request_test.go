package ledger

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

// A free account gets the common decisions one after the other. A request that is not charged is an
// error of its key unless it gets a 2xx.
func TestRequest(t *testing.T) {
	eachDatabase(t, book.Terms{Rate: limit(1), Points: limit(10)}, func(t *testing.T, f *fixture) {

		d := f.request(4)
		require.Equal(t, Good, d.Kind)
		require.Equal(t, &Usage{Current: 4, Limit: 10}, d.Usage)
		require.EqualValues(t, 6, d.Remaining)

		d = f.request(1)
		require.Equal(t, RateLimited, d.Kind, "the only token of this second is used")
		require.Equal(t, time.Second, d.RetryAfter)
		require.Equal(t, &Usage{Current: 4, Limit: 10}, d.Usage, "a refusal shows the usage and charges nothing")

		f.clock.advance(time.Second)
		d = f.request(7)
		require.Equal(t, Insufficient, d.Kind)
		require.EqualValues(t, 6, d.Remaining)
		require.Equal(t, clockAt("2026-12-01T00:00:00Z").wall.Sub(f.clock.Now()), d.RetryAfter)

		require.Equal(t, RateLimited, f.request(1).Kind, "a request without enough points takes a token")

		f.clock.advance(time.Second)
		require.Equal(t, Good, f.request(6).Kind, "the last points can be used")
		f.clock.advance(time.Second)
		r := f.mustBegin()
		must(r.Inspect())(t)
		r.Succeeded()
		r.End()
		f.requireHistory(book.Tally{Points: 10, Requests: 4, Errors: 1})
	})
}

func TestKeysAreJudgedFirst(t *testing.T) {
	eachDatabase(t, book.Terms{Rate: limit(1), Points: limit(0)}, func(t *testing.T, f *fixture) {
		mistyped := f.secret[:10] + "!" + f.secret[11:]
		for name, secret := range map[string]string{"empty": "", "mistyped": mistyped, "unknown": book.NewSecret()} {
			require.Equal(t, Decision{Kind: UnknownKey}, f.requestWith(secret, 1, nil), name)
		}
		require.Equal(t, Insufficient, f.request(1).Kind, "unknown keys take no token")
		require.Equal(t, RateLimited, f.request(1).Kind, "the rate precedes the points")
		require.NoError(t, f.RevokeKey(f.ctx, f.account, f.key.ID))
		require.Equal(t, UnknownKey, f.request(1).Kind, "the key precedes the rate")
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
	require.Equal(t, Good, must(r.Claim(5, nil))(t).Kind)
	for _, points := range []int64{-1, 0, 6} {
		_, err := r.Charge(Charge{Points: points})
		require.ErrorIs(t, err, errPoints)
	}
	_, err := r.Claim(5, nil)
	require.ErrorIs(t, err, errPoints, "a second claim")
	must(r.Charge(Charge{Points: 3}))(t)
	_, err = r.Charge(Charge{Points: 1})
	require.ErrorIs(t, err, errPoints, "a second charge")
	require.EqualValues(t, 3, f.used())
}

// Begin and Inspect return what is left for the next request.
func TestQuota(t *testing.T) {
	eachDatabase(t, book.Terms{Rate: limit(3), Points: limit(10)}, func(t *testing.T, f *fixture) {
		refill := clockAt("2026-12-01T00:00:00Z").wall.Sub(clockAt(startTime).wall)
		r, d := must2(f.Begin(f.ctx, f.secret, ""))(t)
		defer r.End()
		require.Equal(t, &Quota{Rate: 3, Tokens: 2, Refill: refill}, d.Quota)
		for range 2 {
			f.request(1)
		}
		_, d = must2(f.Begin(f.ctx, f.secret, ""))(t)
		require.Equal(t, RateLimited, d.Kind)
		require.Equal(t, &Quota{Rate: 3, Tokens: 0, Refill: refill}, d.Quota)

		f.clock.advance(time.Second * 2 / 3)
		d = must(r.Inspect())(t)
		require.Equal(t, Good, d.Kind)
		require.Equal(t, &Usage{Current: 2, Limit: 10}, d.Usage)
		require.Equal(t, &Quota{Rate: 3, Tokens: 2, Refill: refill - time.Second*2/3}, d.Quota)
	})
}

// Points of an account's own are a hard limit unless its terms allow overage.
func TestPointsInOverage(t *testing.T) {
	eachDatabase(t, book.Terms{Plan: "pro", Rate: limit(book.Unlimited), Points: limit(10)}, func(t *testing.T, f *fixture) {
		require.Equal(t, Insufficient, f.request(11).Kind)
		require.NoError(t, f.ChangeTerms(f.ctx, f.account, book.Terms{Plan: "pro", Points: limit(10), Overage: yes()}))
		require.Equal(t, &Usage{Current: 10, Limit: 10}, f.request(10).Usage, "the limit itself is not overage")
		d := f.request(1)
		require.Equal(t, Good, d.Kind)
		require.Equal(t, &Usage{Current: 11, Limit: 10, Overage: true}, d.Usage)
		require.Zero(t, d.Remaining)
		require.NoError(t, f.ChangeTerms(f.ctx, f.account, book.Terms{Plan: "enterprise"}))
		require.Equal(t, Good, f.request(maxClaim).Kind, "neither points nor rate are limited")
		require.Equal(t, Decision{Usage: &Usage{Current: maxClaim + 12, Limit: book.Unlimited}, Remaining: book.Unlimited}, f.request(1))
	})
}

func TestPointsRefillMonthly(t *testing.T) {
	eachDatabase(t, book.Terms{Rate: limit(book.Unlimited), Points: limit(10)}, func(t *testing.T, f *fixture) {
		f.clock.until("2026-11-30T23:59:59Z")
		require.Equal(t, Good, f.request(9).Kind)
		d := f.request(2)
		require.Equal(t, Insufficient, d.Kind)
		require.Equal(t, time.Second, d.RetryAfter)

		f.clock.advance(time.Second)
		require.EqualValues(t, 0, f.used(), "the list shows the refill before the month's first request")
		require.Equal(t, midnight("2027-01-01"), must(f.Account(f.ctx, f.account))(t).Refill)
		require.Equal(t, &Usage{Current: 2, Limit: 10}, f.request(2).Usage)

		f.clock.until("2028-02-29T12:00:00Z")
		require.Equal(t, &Usage{Current: 10, Limit: 10}, f.request(10).Usage, "unused months add no points")
	})
}

func TestKeyBudgetAndRate(t *testing.T) {
	eachDatabase(t, book.Terms{Rate: limit(book.Unlimited), Points: limit(100)}, func(t *testing.T, f *fixture) {
		secret, _ := f.newKey("narrow", book.KeyTerms{Budget: limit(5), Rate: limit(2), Expires: midnight("2026-12-02")})
		require.Equal(t, Good, f.requestWith(secret, 3, nil).Kind)
		d := f.requestWith(secret, 3, nil)
		require.Equal(t, Insufficient, d.Kind, "the key's budget")
		require.EqualValues(t, 2, d.Remaining, "what is left of the budget")
		require.Equal(t, RateLimited, f.requestWith(secret, 1, nil).Kind, "the key's rate")
		require.Equal(t, Good, f.request(90).Kind, "another key of the account has neither limit")
		f.clock.advance(time.Second)
		require.Equal(t, Good, f.requestWith(secret, 2, nil).Kind, "the last points of the budget can be used")
		f.clock.until("2026-12-01T00:00:00Z")
		require.Equal(t, Good, f.requestWith(secret, 5, nil).Kind, "the budget refills with the month")

		other := f.replica()
		require.Equal(t, Insufficient, other.requestWith(secret, 1, nil).Kind, "replicas share the budget")
		f.clock.until("2026-12-02T00:00:00Z")
		require.Equal(t, UnknownKey, f.requestWith(secret, 1, nil).Kind, "the key has expired")
	})
}

// A change of a policy by this process or another applies when that of a key would. Requests
// go on with what they began with.
func TestRequestsFollowPolicies(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		other := f.replica()
		document := func(r *Request, name string) string {
			p := must(r.Policy(name))(t)
			if p == nil {
				return ""
			}
			return p.Document
		}
		before := f.mustBegin()
		defer before.End()
		require.Empty(t, document(before, ""), "no default")
		_, err := before.Policy("a")
		require.ErrorIs(t, err, book.ErrNoPolicy)

		f.mustPolicy("a", blocking)
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, book.KeyChange{Terms: &book.KeyTerms{Policy: "a"}}))
		require.Empty(t, document(before, ""), "it began without")
		under := f.mustBegin()
		defer under.End()
		require.Equal(t, blocking, document(under, ""))
		p := must(under.Policy(""))(t)

		other.mustPolicy("b", allowing)
		other.mustPolicy("a", allowing)
		require.NoError(t, other.ChangeKey(f.ctx, f.account, f.key.ID, book.KeyChange{Terms: &book.KeyTerms{Policy: "b"}}))
		require.NoError(t, other.DeletePolicy(f.ctx, f.account, "a"))
		require.Equal(t, blocking, document(under, ""))
		require.Equal(t, blocking, p.Document)
		f.clock.advance(maxAccept + 1)
		after := f.mustBegin()
		defer after.End()
		require.Equal(t, allowing, document(after, ""))
		require.Equal(t, "b", must(after.Inspect())(t).Quota.Policy)
		_, err = after.Policy("a")
		require.ErrorIs(t, err, book.ErrNoPolicy)
	})
}

// Peek says which account a good key has, also where Begin would refuse the request. Forwards is
// false for such a request, and true for a key with a default policy. Neither takes a token.
func TestPeekJudgesTheKey(t *testing.T) {
	eachDatabase(t, book.Terms{Rate: limit(1), Points: limit(book.Unlimited)}, func(t *testing.T, f *fixture) {
		f.mustPolicy("a", blocking)
		const shop = "https://shop.example"
		bound, _ := f.newKey("bound", book.KeyTerms{Origins: []string{shop}, Policy: "a"})
		peek := func(secret, origin string) (int64, Decision) {
			t.Helper()
			return must2(f.Peek(f.ctx, secret, origin))(t)
		}
		for range 3 {
			account, d := peek(f.secret, "")
			require.Equal(t, []any{f.account, Good, int64(1)}, []any{account, d.Kind, d.Quota.Tokens})
			require.False(t, f.Forwards(f.ctx, f.secret, ""), "the key has no default")
			require.True(t, f.Forwards(f.ctx, bound, shop))
		}
		require.Equal(t, Good, f.request(1).Kind, "no token was taken")
		account, d := peek(f.secret, "")
		require.Equal(t, []any{f.account, RateLimited}, []any{account, d.Kind})
		require.False(t, f.Forwards(f.ctx, bound, shop), "the token of this second is used")
		account, d = peek(bound, shop)
		require.Equal(t, []any{f.account, shop}, []any{account, d.AllowOrigin})
		f.clock.advance(time.Second)
		for origin, secret := range map[string]string{"": bound, "https://other.example": bound, "null": book.NewSecret(), "x": "ask_"} {
			account, d = peek(secret, origin)
			require.Zero(t, account)
			require.NotEqual(t, Good, d.Kind)
			require.Nil(t, d.Usage)
			require.False(t, f.Forwards(f.ctx, secret, origin))
		}
		for range book.FreeRate + 1 {
			account, d = peek(f.secret, "")
		}
		require.Equal(t, []any{int64(0), RateLimited}, []any{account, d.Kind}, "what costs nothing has a rate, too")
		require.Positive(t, d.RetryAfter)
		f.clock.advance(time.Second)
		require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, book.KeyChange{Terms: &book.KeyTerms{Policy: "a"}}))
		require.True(t, f.Forwards(f.ctx, f.secret, ""))
		require.NoError(t, f.RevokeKey(f.ctx, f.account, f.key.ID))
		require.False(t, f.Forwards(f.ctx, f.secret, ""))
		account, d = peek(f.secret, "")
		require.Equal(t, []any{int64(0), UnknownKey}, []any{account, d.Kind})
	})
}

// A request reads a policy from the database only if it or another policy of the account was
// changed since the last one did. Requests at the same time share queries.
func TestPoliciesAreReadOnce(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		var counter storetest.Counter
		f := newFixture(t, url, unlimitedTerms, WithStore(counter.Wrap))
		f.mustPolicy("a", blocking)
		f.request(1)
		read := func() int {
			counter.Take()
			inParallel(8, func(int) {
				for range 10 {
					r := f.mustBegin()
					require.NotEmpty(f, must(r.Policy("a"))(f).Document)
					r.End()
				}
			})
			return counter.Take().Statements["read_policy"]
		}
		require.Subset(t, []int{1, maxQueries}, []int{read()})
		require.Zero(t, read())
		f.mustPolicy("b", allowing)
		require.Subset(t, []int{1, maxQueries}, []int{read()})
		require.Zero(t, read())
		for _, name := range []string{"A", strings.Repeat("a", 65), "a\x00"} {
			r := f.mustBegin()
			_, err := r.Policy(name)
			require.ErrorIs(t, err, book.ErrNoPolicy)
			r.End()
		}
		require.Zero(t, counter.Take().Statements["read_policy"], "a name that no policy can have")
	})
}

// A policyRow is a row of the query read_policy.
type policyRow struct{ document string }

func (r policyRow) Scan(into ...any) error {
	*into[0].(*string), *into[1].(*int64) = r.document, 1
	return nil
}

// The policies in memory are bounded in number and length.
func TestCachedPoliciesAreBounded(t *testing.T) {
	for _, size := range []int{1, maxCachedBytes / 10} {
		document := strings.Repeat("x", size)
		c := newPolicyCache(func(_ context.Context, st store.Statement) error {
			return st.Scan(policyRow{document})
		})
		for n := range 3 * maxCachedBytes / max(size, minCachedBytes) {
			must(c.find(t.Context(), policyKey{int64(n), "a", 1}))(t)
		}
		c.entries.CleanUp()
		require.LessOrEqual(t, c.entries.WeightedSize(), uint64(maxCachedBytes))
		require.NotZero(t, c.entries.EstimatedSize())
	}
}

const (
	blocking = `{"block": {"reasons": ["disposable"]}}`
	allowing = `{"allow": {"domains": ["*.example"]}}`
)

// mustPolicy sets a policy of the fixture's account.
func (f *fixture) mustPolicy(name, document string) {
	f.Helper()
	must(f.SetPolicy(f.ctx, f.account, name, document))(f)
}
