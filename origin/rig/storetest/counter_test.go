package storetest_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

func TestCounter(t *testing.T) {
	var c storetest.Counter
	l, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"), ledger.WithStore(c.Wrap))
	require.NoError(t, err)
	defer l.Close()
	_, err = l.CreateAccount(t.Context(), "owner@example.com", book.Terms{})
	require.NoError(t, err)
	c.Take()

	_, err = l.AccountByEmail(t.Context(), "owner@example.com")
	require.NoError(t, err)
	work := c.Take()
	require.Equal(t, 1, work.Statements["list_accounts"])
	require.Equal(t, 1, work.Rows["list_accounts"])
	require.Zero(t, work.Transactions)

	_, err = l.CreateAccount(t.Context(), "other@example.com", book.Terms{})
	require.NoError(t, err)
	work = c.Take()
	require.Equal(t, 1, work.Transactions)
	require.Equal(t, 1, work.Statements["create_account"])
	// The ledger may read on its own meanwhile.
	require.GreaterOrEqual(t, work.AllStatements(), 5)
	require.GreaterOrEqual(t, work.AllRows(), 5, "of the account, three plans and the account again")
}
