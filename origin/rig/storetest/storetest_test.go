package storetest

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
)

func TestCounter(t *testing.T) {
	var c Counter
	s := c.Wrap(Open(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db")))
	require.Len(t, PlanNames(t, s), 3)
	require.Equal(t, Work{Statements: map[string]int{"list_plans": 1}, Rows: map[string]int{"list_plans": 3}}, c.Take())

	change := PutPlan("another")
	change.Reads = func() []store.Statement {
		return []store.Statement{{Name: "list_plans", Scan: func(store.Row) error { return nil }}}
	}
	require.NoError(t, s.Transact(t.Context(), change))
	work := c.Take()
	require.Equal(t, 1, work.Transactions)
	require.Equal(t, map[string]int{"list_plans": 1, "put_plans": 1}, work.Statements)
	require.Equal(t, map[string]int{"list_plans": 3}, work.Rows)
}
