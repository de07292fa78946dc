package ledger

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A countingStore records how many transactions run at the same time.
type countingStore struct {
	store.Store
	running, most atomic.Int64
}

func (s *countingStore) Transact(context.Context, store.Transaction) error {
	s.most.Store(max(s.most.Load(), s.running.Add(1)))
	defer s.running.Add(-1)
	time.Sleep(time.Millisecond) // real time: a transaction takes a while
	return nil
}

func (s *countingStore) Query(context.Context, store.Statement) error {
	return s.Transact(context.Background(), store.Transaction{})
}

func TestSideQueriesAreFew(t *testing.T) {
	counting := new(countingStore)
	side := newSideStore(counting)
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() { require.NoError(t, side.Query(t.Context(), store.Statement{})) })
	}
	wait.Wait()
	require.LessOrEqual(t, counting.most.Load(), int64(maxSideQueries))
}

func TestSideTransactionsRunOneAtATime(t *testing.T) {
	counting := new(countingStore)
	side := newSideStore(counting)
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() { require.NoError(t, side.Transact(t.Context(), store.Transaction{})) })
	}
	wait.Wait()
	require.EqualValues(t, 1, counting.most.Load())

	side.slot <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.ErrorIs(t, side.Transact(ctx, store.Transaction{}), context.DeadlineExceeded, "it does not wait for ever")
}
