package api

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func (b *MemoryBudget) reservation(account int64) *reservation {
	return &reservation{budget: b, account: account}
}

func TestMemoryBudgetAccountLimit(t *testing.T) {
	b := NewMemoryBudget(400)
	first, second, other := b.reservation(1), b.reservation(1), b.reservation(2)
	require.NoError(t, first.grow(t.Context(), 60, 60))
	require.ErrorIs(t, second.grow(t.Context(), 41, 41), errAccountLimit)
	require.NoError(t, second.grow(t.Context(), 40, 40))
	require.NoError(t, other.grow(t.Context(), 100, 100))
	first.set(0)
	require.NoError(t, second.grow(t.Context(), 100, 100))
	require.EqualValues(t, 200, b.Used())
	second.set(0)
	other.set(0)
	require.Zero(t, b.Used())
	require.Empty(t, b.accounts, "accounts without requests have no entry")
}

// A response that already exists is never refused. What it uses beyond the
// account's limit does not count against other accounts.
func TestMemoryBudgetResponsesOverLimit(t *testing.T) {
	b := NewMemoryBudget(400)
	greedy := b.reservation(1)
	greedy.set(1000)
	require.EqualValues(t, 100, b.Used())
	require.ErrorIs(t, b.reservation(1).grow(t.Context(), 1, 1), errAccountLimit)
	for account := range int64(3) {
		require.NoError(t, b.reservation(2+account).grow(t.Context(), 100, 100))
	}
	greedy.set(0)
	require.EqualValues(t, 300, b.Used())
}

// The last quarter is for small requests.
func TestMemoryBudgetSmallRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewMemoryBudget(16 * smallRequest)
		for account := range int64(3) {
			require.NoError(t, b.reservation(account).grow(t.Context(), 4*smallRequest, 4*smallRequest))
		}
		begun := time.Now()
		require.ErrorIs(t, b.reservation(9).grow(t.Context(), smallRequest+1, smallRequest+1), errMemoryLimit)
		require.Equal(t, budgetWait, time.Since(begun))
		for range 4 {
			require.NoError(t, b.reservation(9).grow(t.Context(), smallRequest, smallRequest))
		}
		require.ErrorIs(t, b.reservation(8).grow(t.Context(), 1, 1), errMemoryLimit)
		require.Zero(t, b.waiting)
	})
}

// Requests that each have a part of what they need do not deadlock: all finish,
// one after the other.
func TestMemoryBudgetNoDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const need = 4 << 20
		b := NewMemoryBudget(16 << 20) // room for three large ones
		var done atomic.Int64
		for account := range int64(100) {
			go func() {
				h := b.reservation(account)
				defer h.set(0)
				for bytes := int64(need / 64); bytes <= need; bytes *= 2 {
					for h.grow(t.Context(), bytes, need) == errMemoryLimit { // the client repeats the request
					}
					time.Sleep(time.Duration(rand.Int64N(int64(20 * time.Millisecond))))
				}
				done.Add(1)
			}()
		}
		time.Sleep(time.Minute)
		require.EqualValues(t, 100, done.Load())
		require.Zero(t, b.Used())
	})
}

func TestMemoryBudgetWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewMemoryBudget(40)
		var reservations []*reservation
		for account := range int64(4) {
			h := b.reservation(account)
			require.NoError(t, h.grow(t.Context(), 10, 10))
			reservations = append(reservations, h)
		}
		time.AfterFunc(budgetWait/2, func() { reservations[0].set(0) })
		begun := time.Now()
		require.NoError(t, b.reservation(9).grow(t.Context(), 10, 10))
		require.Equal(t, budgetWait/2, time.Since(begun))

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		require.ErrorIs(t, b.reservation(8).grow(ctx, 1, 1), context.Canceled)
		require.Zero(t, b.waiting)
	})
}

// With many concurrent requests the budget is never exceeded, and in the end all
// bytes are released.
func TestMemoryBudgetConcurrency(t *testing.T) {
	b := NewMemoryBudget(1000)
	var clients sync.WaitGroup
	for account := range int64(8) {
		for range 4 {
			clients.Go(func() {
				h := b.reservation(account)
				defer h.set(0)
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
				defer cancel()
				for range 2000 {
					err := h.grow(ctx, h.bytes+30, h.bytes+30+rand.Int64N(50))
					if used := b.Used(); used > 1000 {
						t.Errorf("%d bytes used", used)
					}
					if err != nil {
						h.set(h.bytes / 2)
					}
				}
			})
		}
	}
	clients.Wait()
	require.Zero(t, b.used)
	require.Zero(t, b.waiting)
	require.Empty(t, b.accounts)
}
