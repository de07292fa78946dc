package signuphook

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
)

// Hooks share secrets of one key of their account until a secret is refused. Whatever keeps the
// account from paying is an error that says why.
func TestPayers(t *testing.T) {
	l := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	payers, h := NewPayers(l), testHook(t, nil)
	_, err := payers.Secret(t.Context(), h)
	require.ErrorIs(t, err, ErrPayer)
	require.ErrorContains(t, err, "there is no such account")

	_, account := ledgertest.NewAccountOn(t, l, h.Account, book.Terms{})
	first, err := payers.Secret(t.Context(), h)
	require.NoError(t, err)
	payers.Drop(h, "a secret from before")
	again, err := payers.Secret(t.Context(), h)
	require.NoError(t, err)
	require.Equal(t, first, again)
	payers.Drop(h, first)
	second, err := payers.Secret(t.Context(), h)
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	keys, err := l.ListKeys(t.Context(), account, book.KeyPage{Search: "hook signup"})
	require.NoError(t, err)
	require.Len(t, keys, 1)
	require.Equal(t, "hook signup", keys[0].Name)

	for _, c := range []struct {
		change func() error
		want   string
	}{
		{func() error { return l.SuspendAccount(t.Context(), account) }, "it is suspended"},
		{func() error { return l.ResumeAccount(t.Context(), account) }, ""},
		{func() error { return l.RevokeKey(t.Context(), account, keys[0].ID) }, "revoked the hook's key"},
		{func() error { return l.DeleteAccount(t.Context(), account) }, "there is no such account"},
	} {
		require.NoError(t, c.change())
		payers.Drop(h, second)
		second, err = payers.Secret(t.Context(), h)
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrPayer)
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), "@")
	}
}
