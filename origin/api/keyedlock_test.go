package api

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// At most one caller holds a key, callers of other keys do not wait, and nothing
// remains when all have released.
func TestKeyedLock(t *testing.T) {
	var l keyedLock
	var callers sync.WaitGroup
	counts := make([]int, 4) // each guarded by its key: the race detector sees a fault
	for n := range 400 {
		callers.Go(func() {
			unlock, err := l.lock(t.Context(), strconv.Itoa(n%4))
			require.NoError(t, err)
			defer unlock()
			counts[n%4]++
		})
	}
	callers.Wait()
	require.Equal(t, []int{100, 100, 100, 100}, counts)
	require.Empty(t, l.held)
}

// Who waits gives up when its context ends.
func TestKeyedLockEndsWithContext(t *testing.T) {
	var l keyedLock
	unlock, err := l.lock(t.Context(), "a")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = l.lock(ctx, "a")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	unlock()
	require.Empty(t, l.held)
}
