package book

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A countingStore records how much runs at the same time.
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

func (s *countingStore) Query(ctx context.Context, _ store.Statement) error {
	return s.Transact(ctx, store.Transaction{})
}

func TestSideStoreIsBounded(t *testing.T) {
	counting := new(countingStore)
	side := New(counting, time.Now, func() {}, slog.New(slog.DiscardHandler)).store
	inParallel := func(work func() error) int64 {
		counting.most.Store(0)
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() { require.NoError(t, work()) })
		}
		wait.Wait()
		return counting.most.Load()
	}
	require.LessOrEqual(t, inParallel(func() error { return side.Query(t.Context(), store.Statement{}) }), int64(maxSideQueries))
	require.EqualValues(t, 1, inParallel(func() error { return side.Transact(t.Context(), store.Transaction{}) }))

	require.True(t, side.turn.TryAcquire(1))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.ErrorIs(t, side.Transact(ctx, store.Transaction{}), context.DeadlineExceeded, "it does not wait for ever")
}

// A change that waits for a lock of another session lets others have their turn.
func TestLockedChangeDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		proceed := make(chan struct{})
		s := New(storeFunc(func(t store.Transaction) error {
			name := t.Reads()[0].Name
			order = append(order, name)
			if name == "free" {
				return nil
			}
			<-proceed
			return &store.Locked{Err: errors.New("locked")}
		}), time.Now, func() {}, slog.New(slog.DiscardHandler)).store
		var failed error
		transact := func(name string) error {
			return s.Transact(t.Context(), store.Transaction{Reads: func() []store.Statement { return []store.Statement{{Name: name}} }})
		}
		go func() { failed = transact("locked") }()
		synctest.Wait()
		go transact("free")
		synctest.Wait()
		close(proceed)
		synctest.Wait()
		require.Equal(t, []string{"locked", "free"}, order[:2])
		require.Len(t, order, sideTries+1)
		require.Error(t, failed)
	})
}

// A storeFunc runs transactions only.
type storeFunc func(store.Transaction) error

func (f storeFunc) Transact(_ context.Context, t store.Transaction) error { return f(t) }
func (storeFunc) Query(context.Context, store.Statement) error            { panic("not called") }
func (storeFunc) Now(context.Context) (time.Time, error)                  { panic("not called") }
func (storeFunc) Examine(context.Context) (store.Examination, error)      { panic("not called") }
func (storeFunc) Close() error                                            { return nil }
