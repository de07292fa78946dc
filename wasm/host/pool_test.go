package host

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// A caller stops waiting for an instance when its context is done.
func TestCheckCanceled(t *testing.T) {
	engine, err := New(context.Background(), moduletest.Bytes(t), Options{Size: 1, CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	defer engine.Close(context.Background())
	pool := engine.View().pool
	acquired, err := pool.acquire(context.Background(), nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = engine.Check(ctx, nil, "jane@example.org", 0)
	require.ErrorIs(t, err, context.Canceled)
	pool.release(context.Background(), acquired, nil)
	_, err = engine.Check(context.Background(), nil, "jane@example.org", 0)
	require.NoError(t, err, "the canceled call must not keep a slot")
}

// An acquired instance still works after the lists are replaced, and is closed on
// its release.
func TestSetListsKeepsAcquiredInstance(t *testing.T) {
	engine, err := New(context.Background(), moduletest.Bytes(t), Options{Size: 1, CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	defer engine.Close(context.Background())
	pool := engine.View().pool
	acquired, err := pool.acquire(context.Background(), nil)
	require.NoError(t, err)
	require.NoError(t, engine.SetLists(context.Background(), nil))
	_, err = acquired.checkAddress(context.Background(), nil, "jane@example.org", 0)
	require.NoError(t, err)
	pool.release(context.Background(), acquired, err)
	require.True(t, acquired.module.IsClosed())
}

// New starts one instance, a second caller at a time another one, and SetLists all.
func TestInstancesStartWhenNeeded(t *testing.T) {
	ctx := context.Background()
	engine, err := New(ctx, moduletest.Bytes(t), Options{Size: 2, CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	defer engine.Close(ctx)
	pool := engine.View().pool
	require.Len(t, pool.idle, 1)
	first, err := pool.acquire(ctx, nil)
	require.NoError(t, err)
	second, err := pool.acquire(ctx, nil)
	require.NoError(t, err)
	require.NotSame(t, first, second)
	for _, i := range []*instance{first, second} {
		_, err = i.checkAddress(ctx, nil, "jane@example.org", 0)
		require.NoError(t, err)
		pool.release(ctx, i, err)
	}
	require.Len(t, pool.idle, 2)
	require.NoError(t, engine.SetLists(ctx, nil))
	require.Len(t, engine.View().pool.idle, 2)
}
