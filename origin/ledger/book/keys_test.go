package book

import (
	"fmt"
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
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
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
			page, err := f.ListKeys(f.ctx, f.account, KeyPage{After: after, Limit: 5000})
			require.NoError(t, err)
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
		found, err := f.ListKeys(f.ctx, f.account, KeyPage{Search: "KEY 77", Limit: 3})
		require.NoError(t, err)
		require.Len(t, found, 3)
		require.Equal(t, "key 7799", found[0].Name)
		none, err := f.ListKeys(f.ctx, f.account, KeyPage{Search: "%"})
		require.NoError(t, err)
		require.Empty(t, none)
		none, err = f.ListKeys(f.ctx, f.account+1, KeyPage{Revoked: true, Dashboard: true})
		require.NoError(t, err)
		require.Empty(t, none, "of another account")
	})
}

// An error of a name or a term says which field is wrong.
func TestFieldErrors(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/x.db", unlimitedTerms)
	for field, terms := range map[string]KeyTerms{
		"expires": {Expires: f.clock.Now().Add(-time.Hour)},
		"budget":  {Budget: limit(-2)},
		"rate":    {Rate: limit(0)},
		"origins": {Origins: []string{"*"}},
	} {
		_, _, err := f.CreateKey(f.ctx, f.account, "n", terms)
		requireField(t, err, field)
		requireField(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &terms}), field)
	}
	requireField(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Name: new(string)}), "name")
	_, _, err := f.RotateKey(f.ctx, f.account, f.key.ID, -time.Second)
	requireField(t, err, "grace")
}

func requireField(t *testing.T, err error, field string) {
	t.Helper()
	var wrong *FieldError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, field, wrong.Field)
}

// A key's expiry must be ahead, and is refused beyond what the database can store.
func TestExpiryOfAKey(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/x.db", unlimitedTerms)
	for _, c := range []struct {
		expires time.Time
		why     string
	}{{f.clock.Now(), "is over"}, {time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), "is over"}, {time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), "by the year 2200"}} {
		_, _, err := f.CreateKey(f.ctx, f.account, "odd", KeyTerms{Expires: c.expires})
		require.ErrorContains(t, err, c.why)
	}
}

// The dashboard's key cannot be changed, rotated or revoked; a list has it on
// request only.
func TestDashboardKeyIsFixed(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		err := f.CreateDashboardKey(f.ctx, f.account)
		require.NoError(t, err)
		list, err := f.ListKeys(f.ctx, f.account, KeyPage{Revoked: true})
		require.NoError(t, err)
		require.Equal(t, []Key{f.key}, list)
		list, err = f.ListKeys(f.ctx, f.account, KeyPage{Dashboard: true})
		require.NoError(t, err)
		require.Len(t, list, 2)
		k := list[0]
		require.True(t, k.Dashboard)
		require.False(t, k.Test)
		require.Equal(t, "Dashboard", k.Name)
		require.Zero(t, k.Replaced)
		again, err := f.Key(f.ctx, f.account, k.ID)
		require.NoError(t, err)
		require.Equal(t, k, again)

		require.ErrorIs(t, f.ChangeKey(f.ctx, f.account, k.ID, KeyChange{Name: &f.key.Name}), ErrNoKey)
		require.ErrorIs(t, f.RevokeKey(f.ctx, f.account, k.ID), ErrNoKey)
		_, _, err = f.RotateKey(f.ctx, f.account, k.ID, 0)
		require.ErrorIs(t, err, ErrNoKey)
	})
}

// A hook has one key, which its owner may revoke; its secrets expire, and replace none that the
// owner has.
func TestHookSecret(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		_, _, err := f.CreateTestKey(f.ctx, f.account, "hook signup", KeyTerms{})
		require.NoError(t, err, "a test key with the name, which a hook must not use")
		secret, expires, err := f.HookSecret(f.ctx, f.account, "signup")
		require.NoError(t, err)
		require.Equal(t, f.clock.Now().Add(time.Hour), expires)
		keys, err := f.ListKeys(f.ctx, f.account, KeyPage{Search: "HOOK signup"})
		require.NoError(t, err)
		replaced, _, err := f.RotateKey(f.ctx, f.account, keys[0].ID, 0)
		require.NoError(t, err)
		own, _, err := f.RotateKey(f.ctx, f.account, keys[0].ID, MaxGrace)
		require.NoError(t, err)
		var all []string
		for range 20 {
			secret, _, err = f.HookSecret(f.ctx, f.account, "signup")
			require.NoError(t, err)
			all = append(all, secret)
		}
		require.Equal(t, 3, f.valid(secret, own, replaced), "the replaced one until its grace ends")
		require.Equal(t, maxServiceSecrets-1, f.valid(all...), "beside the replaced one, which expires too")
		list, err := f.ListKeys(f.ctx, f.account, KeyPage{Search: "hook"})
		require.NoError(t, err)
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
	s, err := store.Open(f.ctx, f.url, f.clock.Now)
	require.NoError(t, err)
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
