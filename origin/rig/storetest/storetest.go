// Package storetest helps to test stores. It counts what a ledger asks of its database, so
// that tests can assert a bound on work as a number of statements and rows.
//
//	var c storetest.Counter
//	l, err := ledger.Open(ctx, url, ledger.WithStore(c.Wrap))
//	c.Take() // drops what Open did
//	...
//	work := c.Take()
//	require.Equal(t, map[string]int{"read_account": 1}, work.Statements)
package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A Work is what was asked of a database. Maps are by the name of the statement.
type Work struct {
	Transactions int
	Statements   map[string]int
	Rows         map[string]int // that the database returned
}

// A Counter counts the work of the stores that it wraps. It is safe for concurrent
// use.
type Counter struct {
	mu   sync.Mutex
	work Work
}

// Wrap returns a store that counts what it asks of s.
func (c *Counter) Wrap(s store.Store) store.Store { return &countingStore{s, c} }

// Take returns the work since the last call.
func (c *Counter) Take() (w Work) {
	c.count(func(work *Work) { w, *work = *work, Work{} })
	return w
}

func (c *Counter) count(add func(*Work)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work.Statements == nil {
		c.work.Statements, c.work.Rows = map[string]int{}, map[string]int{}
	}
	add(&c.work)
}

// statements counts the statements and makes them count their rows.
func (c *Counter) statements(list ...store.Statement) []store.Statement {
	counted := slices.Clone(list)
	for i, s := range list {
		c.count(func(w *Work) { w.Statements[s.Name]++ })
		if s.Scan != nil {
			counted[i].Scan = func(r store.Row) error {
				c.count(func(w *Work) { w.Rows[s.Name]++ })
				return s.Scan(r)
			}
		}
	}
	return counted
}

type countingStore struct {
	store.Store
	counter *Counter
}

func (s *countingStore) Query(ctx context.Context, st store.Statement) error {
	return s.Store.Query(ctx, s.counter.statements(st)[0])
}

func (s *countingStore) Transact(ctx context.Context, t store.Transaction) error {
	s.counter.count(func(w *Work) { w.Transactions++ })
	if reads := t.Reads; reads != nil {
		t.Reads = func() []store.Statement { return s.counter.statements(reads()...) }
	}
	decide := t.Decide
	t.Decide = func(now time.Time) ([]store.Statement, error) {
		list, err := decide(now)
		return s.counter.statements(list...), err
	}
	return s.Store.Transact(ctx, t)
}

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
