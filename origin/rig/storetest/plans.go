package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Open opens a database until the test ends.
func Open(t *testing.T, url string) store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// PutPlan returns a transaction that stores a plan.
func PutPlan(name string) store.Transaction {
	return store.Transaction{Marked: true, Decide: func(time.Time) ([]store.Statement, error) {
		return []store.Statement{{Name: "put_plans", Args: []any{fmt.Sprintf(`[[%q, 1, 1, false, 1]]`, name)}}}, nil
	}}
}

// PlanNames returns the names of the plans.
func PlanNames(t *testing.T, s store.Store) (names []string) {
	t.Helper()
	require.NoError(t, s.Query(t.Context(), store.Statement{Name: "list_plans", Scan: func(r store.Row) error {
		var name string
		var skip any
		err := r.Scan(&name, &skip, &skip, &skip, &skip)
		names = append(names, name)
		return err
	}}))
	return names
}
