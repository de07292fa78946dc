package book

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

// addKeys adds n keys outside the ledger.
func (f *fixture) addKeys(n int, revoked string) {
	f.Helper()
	f.exec(fmt.Sprintf(`INSERT INTO keys (account, name, hint, created_ns, revoked_ns)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT %d, 'key ' || i, 'ask_0000', 1, %s FROM n`, n, f.account, revoked))
}

// Replicas that create keys at the same time do not exceed the bounds together.
func TestKeysAreBounded(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		list := []*Book{f.Book, f.open(), f.open()}
		create := func(refusal error) (created int64) {
			var n atomic.Int64
			var all sync.WaitGroup
			for i := range 12 {
				all.Go(func() {
					_, _, err := list[i%3].CreateKey(f.ctx, f.account, "new", KeyTerms{})
					if err == nil {
						n.Add(1)
					} else {
						require.ErrorIs(f, err, refusal)
					}
				})
			}
			all.Wait()
			return n.Load()
		}
		f.addKeys(maxActiveKeys-5, "NULL") // and the fixture's own
		err := f.CreateDashboardKey(f.ctx, f.account)
		require.NoError(t, err, "the dashboard's key does not count")
		require.EqualValues(t, 4, create(ErrTooManyActiveKeys))
		require.NoError(t, f.RevokeKey(f.ctx, f.account, f.key.ID))
		require.EqualValues(t, 1, create(ErrTooManyActiveKeys), "a revoked key makes room")

		f.exec("UPDATE keys SET revoked_ns = 1 WHERE NOT dashboard")
		f.addKeys(MaxKeys-maxActiveKeys-4, "1")
		require.EqualValues(t, 3, create(ErrTooManyKeys))
	})
}

func TestListKeysInPages(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		var counter storetest.Counter
		f := newFixture(t, url, unlimitedTerms, counter.Wrap)
		f.addKeys(MaxKeys-1, "NULL")
		counter.Take()
		count, last := 0, int64(1<<62)
		for after, more := int64(0), true; more; {
			page := must(f.ListKeys(f.ctx, f.account, KeyPage{After: after, Limit: 5000}))(t)
			require.LessOrEqual(t, len(page), MaxPage, "a page is bounded")
			for _, k := range page {
				require.Less(t, k.ID, last, "newest first")
				last, after = k.ID, k.ID
				count++
			}
			more = len(page) > 0
		}
		require.Equal(t, MaxKeys, count)
		work := counter.Take()
		require.Equal(t, MaxKeys/MaxPage+1, work.Statements["list_keys"], "the last page is empty")
		require.Equal(t, MaxKeys, work.Rows["list_keys"])
		found := must(f.ListKeys(f.ctx, f.account, KeyPage{Search: "KEY 77", Limit: 3}))(t)
		require.Len(t, found, 3)
		require.Equal(t, "key 7799", found[0].Name)
		require.Empty(t, must(f.ListKeys(f.ctx, f.account, KeyPage{Search: "%"}))(t))
		every := KeyPage{Revoked: true, Dashboard: true}
		require.Empty(t, must(f.ListKeys(f.ctx, f.account+1, every))(t), "of another account")
	})
}

// An error of a name or a term says which field is wrong.
func TestFieldErrors(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/x.db", unlimitedTerms)
	requireField := func(err error, field, why string) {
		t.Helper()
		var wrong *FieldError
		require.ErrorAs(t, err, &wrong)
		require.ErrorContains(t, err, why)
		require.Equal(t, field, wrong.Field)
	}
	for _, c := range []struct {
		field, why string
		terms      KeyTerms
	}{
		{"expires", "is over", KeyTerms{Expires: f.clock.Now()}},
		{"expires", "is over", KeyTerms{Expires: time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)}},
		{"expires", "by the year 2200", KeyTerms{Expires: time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)}},
		{"budget", "-2 points", KeyTerms{Budget: limit(-2)}},
		{"rate", "the rate 0", KeyTerms{Rate: limit(0)}},
		{"rate", "leave it out", KeyTerms{Rate: limit(Unlimited)}},
		{"origins", "wildcards", KeyTerms{Origins: []string{"*"}}},
		{"policy", "", KeyTerms{Policy: "missing"}},
		{"policy", "the name of a policy", KeyTerms{Policy: "Odd name"}},
		{"policy", "the name of a policy", KeyTerms{Policy: strings.Repeat("a", 65)}},
	} {
		_, _, err := f.CreateKey(f.ctx, f.account, "n", c.terms)
		requireField(err, c.field, c.why)
		requireField(f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &c.terms}), c.field, c.why)
	}
	for _, name := range []string{"", "a\x00b", strings.Repeat("n", 65)} {
		requireField(f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Name: &name}), "name", "the name of a key")
		_, _, err := f.CreateKey(f.ctx, f.account, name, KeyTerms{})
		requireField(err, "name", "the name of a key")
	}
	for _, grace := range []time.Duration{-1, MaxGrace + 1} {
		_, _, err := f.RotateKey(f.ctx, f.account, f.key.ID, grace)
		requireField(err, "grace", "outside 0 to 168h")
	}
}

// The dashboard's key cannot be changed, rotated or revoked; a list has it on
// request only.
func TestDashboardKeyIsFixed(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		err := f.CreateDashboardKey(f.ctx, f.account)
		require.NoError(t, err)
		require.Equal(t, []Key{f.key}, must(f.ListKeys(f.ctx, f.account, KeyPage{Revoked: true}))(t))
		list := must(f.ListKeys(f.ctx, f.account, KeyPage{Dashboard: true}))(t)
		require.Len(t, list, 2)
		k := list[0]
		require.True(t, k.Dashboard)
		require.False(t, k.Test)
		require.Equal(t, "Dashboard", k.Name)
		require.Zero(t, k.Replaced)
		require.Equal(t, k, must(f.Key(f.ctx, f.account, k.ID))(t))

		require.ErrorIs(t, f.ChangeKey(f.ctx, f.account, k.ID, KeyChange{Name: &f.key.Name}), ErrNoKey)
		require.ErrorIs(t, f.RevokeKey(f.ctx, f.account, k.ID), ErrNoKey)
		_, _, err = f.RotateKey(f.ctx, f.account, k.ID, 0)
		require.ErrorIs(t, err, ErrNoKey)
	})
}

// A hook has one key, which its owner may revoke; its secrets expire, and replace none that the
// owner has.
func TestHookSecret(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		_, _, err := f.CreateTestKey(f.ctx, f.account, "hook signup", KeyTerms{})
		require.NoError(t, err, "a test key with the name, which a hook must not use")
		secret, expires := must2(f.HookSecret(f.ctx, f.account, "signup"))(t)
		require.Equal(t, f.clock.Now().Add(time.Hour), expires)
		keys := must(f.ListKeys(f.ctx, f.account, KeyPage{Search: "HOOK signup"}))(t)
		replaced, _ := must2(f.RotateKey(f.ctx, f.account, keys[0].ID, 0))(t)
		own, _ := must2(f.RotateKey(f.ctx, f.account, keys[0].ID, MaxGrace))(t)
		var all []string
		for range 20 {
			secret, _ = must2(f.HookSecret(f.ctx, f.account, "signup"))(t)
			all = append(all, secret)
		}
		require.Equal(t, 3, f.valid(secret, own, replaced), "the replaced one until its grace ends")
		require.Equal(t, maxServiceSecrets-1, f.valid(all...), "beside the replaced one, which expires too")
		list := must(f.ListKeys(f.ctx, f.account, KeyPage{Search: "hook"}))(t)
		require.Len(t, list, 2)
		require.False(t, list[0].Test)
		require.Equal(t, "hook signup", list[0].Name)
		require.Zero(t, list[0].Replaced, "not rotated")

		f.clock.advance(time.Hour)
		require.Zero(t, f.valid(secret), "expired")
		require.NoError(t, f.RevokeKey(f.ctx, f.account, list[0].ID))
		_, _, err = f.HookSecret(f.ctx, f.account, "signup")
		require.ErrorIs(t, err, ErrRevoked, "a revoked key is not replaced")
		_, _, err = f.HookSecret(f.ctx, f.account, "sign")
		require.NoError(t, err, "another hook has another key")
		_, _, err = f.HookSecret(f.ctx, 4711, "signup")
		require.ErrorIs(t, err, ErrNoAccount)
	})
}

// While the database fails, every method returns ErrUnavailable.
func TestUnavailable(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/x.db", unlimitedTerms)
	s := must(store.Open(f.ctx, f.url, f.clock.Now))(t)
	require.NoError(t, s.Close())
	closed := New(s, f.clock.Now, func() {}, f.log)
	_, byID := closed.Account(f.ctx, f.account)
	_, byEmail := closed.AccountByEmail(f.ctx, "owner@example.com")
	_, created := closed.CreateAccount(f.ctx, "new@example.com", Terms{})
	_, _, key := closed.CreateKey(f.ctx, f.account, "new", KeyTerms{})
	_, _, hook := closed.HookSecret(f.ctx, f.account, "signup")
	for _, err := range []error{byID, byEmail, created, key, hook, closed.RevokeKeysBefore(f.ctx, f.account, f.clock.Now()),
		closed.ChangeTerms(f.ctx, f.account, Terms{}), closed.DeleteAccount(f.ctx, f.account)} {
		require.ErrorIs(t, err, store.ErrUnavailable)
	}
}
