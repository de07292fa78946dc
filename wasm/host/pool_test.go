package host

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// A caller waits for a free instance no longer than its context lets it.
func TestUseEndsWithItsContext(t *testing.T) {
	engine, err := New(context.Background(), moduletest.Bytes(t), Options{Size: 1, CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	defer engine.Close(context.Background())
	pool := engine.View().pool
	lent, err := pool.lend(context.Background())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = engine.Check(ctx, nil, "jane@example.org", 0)
	require.ErrorIs(t, err, context.Canceled)
	pool.giveBack(context.Background(), lent, nil)
	_, err = engine.Check(context.Background(), nil, "jane@example.org", 0)
	require.NoError(t, err, "the one who gave up took no instance along")
}

// A lent instance outlives the swap of the lists, and then is closed.
func TestUseHoldsAnInstanceOverARetirement(t *testing.T) {
	engine, err := New(context.Background(), moduletest.Bytes(t), Options{Size: 1, CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	defer engine.Close(context.Background())
	pool := engine.View().pool
	lent, err := pool.lend(context.Background())
	require.NoError(t, err)
	require.NoError(t, engine.SetLists(context.Background(), nil))
	_, err = lent.checkAddress(context.Background(), nil, "jane@example.org", 0)
	require.NoError(t, err)
	pool.giveBack(context.Background(), lent, err)
	require.True(t, lent.module.IsClosed())
}
