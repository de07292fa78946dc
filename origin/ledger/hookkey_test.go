package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// A hook has one key, which its owner may revoke; its secrets expire.
func TestHookSecret(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		secret, expires, err := f.HookSecret(f.ctx, f.account, "signup")
		require.NoError(t, err)
		require.Equal(t, f.clock.Now().Add(time.Hour), expires)
		for range 20 {
			secret, _, err = f.HookSecret(f.ctx, f.account, "signup")
			require.NoError(t, err)
		}
		require.Equal(t, Good, f.requestWith(secret, 1, nil).Verdict)
		list, err := f.ListKeys(f.ctx, f.account, KeyPage{Search: "hook"})
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, "hook signup", list[0].Name)
		require.Zero(t, list[0].Replaced, "not rotated")
		var secrets int
		f.queryRow("SELECT count(*) FROM secrets s JOIN keys k ON k.id = s.key WHERE k.name = 'hook signup'", &secrets)
		require.LessOrEqual(t, secrets, 16)

		f.clock.advance(time.Hour)
		require.Equal(t, UnknownKey, f.requestWith(secret, 1, nil).Verdict, "expired")
		require.NoError(t, f.RevokeKey(f.ctx, f.account, list[0].ID))
		_, _, err = f.HookSecret(f.ctx, f.account, "signup")
		require.ErrorIs(t, err, ErrRevoked, "a revoked key is not replaced")
		_, _, err = f.HookSecret(f.ctx, f.account, "sign")
		require.NoError(t, err, "another hook has another key")
		_, _, err = f.HookSecret(f.ctx, 4711, "signup")
		require.ErrorIs(t, err, ErrNoAccount)
	})
}
