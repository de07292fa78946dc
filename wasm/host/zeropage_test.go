package host

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/build/flow"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// The packed module clears memory by copying from its first page (flow.Clear), so
// nothing that it does may write there: a check with any flags, or many.
func TestModuleLeavesItsFirstPageZero(t *testing.T) {
	ctx := context.Background()
	engine, err := New(ctx, moduletest.Whole(t), Options{Size: 1, CacheDir: moduletest.CacheDir()})
	require.NoError(t, err)
	defer engine.Close(ctx)
	i, err := engine.View().pool.acquire(ctx)
	require.NoError(t, err)
	defer engine.View().pool.release(ctx, i, nil)
	emails := vectors.Generate(1, 2000)
	for n, email := range emails {
		_, err := i.checkAddress(ctx, nil, email, Flags(n%4))
		require.NoError(t, err)
	}
	require.NoError(t, i.checkMany(ctx, emails, Details, func(int, Facts) {}))
	page, ok := i.module.Memory().Read(0, flow.ZeroPage)
	require.True(t, ok)
	require.Equal(t, make([]byte, flow.ZeroPage), page)
}
