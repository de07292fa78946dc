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
	acquired, err := pool.acquire(context.Background())
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
	acquired, err := pool.acquire(context.Background())
	require.NoError(t, err)
	require.NoError(t, engine.SetLists(context.Background(), nil))
	_, err = acquired.checkAddress(context.Background(), nil, "jane@example.org", 0)
	require.NoError(t, err)
	pool.release(context.Background(), acquired, err)
	require.True(t, acquired.module.IsClosed())
}
