package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// Replicas that ask for a secret at the same time make one key. At most 16 of its
// secrets are valid; the one that expires first goes.
func TestDashboardSecret(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f, list := newReplicas(t, url, unlimitedTerms, 3)
		first, expires, err := f.DashboardSecret(f.ctx, f.account)
		require.NoError(t, err)
		require.Equal(t, f.clock.Now().Add(time.Hour), expires)
		f.clock.advance(time.Second)
		secrets := make([]string, 15)
		inParallel(len(secrets), func(i int) {
			var err error
			secrets[i], _, err = list[i%3].DashboardSecret(f.ctx, f.account)
			require.NoError(f, err)
		})
		for _, secret := range append(secrets, first) {
			require.Equal(t, Good, f.requestWith(secret, 1, nil).Verdict)
		}
		last, _, err := f.DashboardSecret(f.ctx, f.account)
		require.NoError(t, err)
		require.Equal(t, UnknownKey, f.requestWith(first, 1, nil).Verdict, "the oldest of 17")
		require.Equal(t, Good, f.requestWith(last, 1, nil).Verdict)

		f.clock.advance(time.Hour)
		require.Equal(t, UnknownKey, f.requestWith(last, 1, nil).Verdict, "expired")
		_, _, err = f.DashboardSecret(f.ctx, f.account)
		require.NoError(t, err)
		var secretRows, keyRows int
		f.queryRow("SELECT count(*) FROM secrets s JOIN keys k ON k.id = s.key WHERE k.dashboard", &secretRows)
		f.queryRow("SELECT count(*) FROM keys WHERE dashboard", &keyRows)
		require.Equal(t, []int{1, 1}, []int{secretRows, keyRows}, "expired secrets are deleted")
		_, _, err = f.DashboardSecret(f.ctx, 4711)
		require.ErrorIs(t, err, ErrNoAccount)
	})
}

// The dashboard's key cannot be changed, rotated or revoked; a list has it on
// request only.
func TestDashboardKeyIsFixed(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		_, _, err := f.DashboardSecret(f.ctx, f.account)
		require.NoError(t, err)
		list, err := f.ListKeys(f.ctx, f.account, KeyPage{Revoked: true})
		require.NoError(t, err)
		require.Equal(t, []Key{f.key}, list)
		list, err = f.ListKeys(f.ctx, f.account, KeyPage{Dashboard: true})
		require.NoError(t, err)
		require.Len(t, list, 2)
		k := list[0]
		require.True(t, k.Dashboard)
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
