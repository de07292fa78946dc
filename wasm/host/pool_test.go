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
	require.NoError(t, engine.View().pool.use(context.Background(), func(*instance) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := engine.Check(ctx, nil, "jane@example.org", 0)
		require.ErrorIs(t, err, context.Canceled)
		return nil
	}))
	_, err = engine.Check(context.Background(), nil, "jane@example.org", 0)
	require.NoError(t, err, "the one who gave up took no instance along")
}

// A lent instance outlives the swap of the lists, and then is closed.
func TestUseHoldsAnInstanceOverARetirement(t *testing.T) {
	engine, err := New(context.Background(), moduletest.Bytes(t), Options{Size: 1, CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	defer engine.Close(context.Background())
	var lent *instance
	require.NoError(t, engine.View().pool.use(context.Background(), func(i *instance) error {
		lent = i
		require.NoError(t, engine.SetLists(context.Background(), nil))
		_, err := i.checkAddress(context.Background(), nil, "jane@example.org", 0)
		return err
	}))
	require.True(t, lent.module.IsClosed())
}
