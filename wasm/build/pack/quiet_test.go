package pack_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

func instantiateWASI(ctx context.Context, t testing.TB, runtime wazero.Runtime) {
	t.Helper()
	_, err := wasi_snapshot_preview1.Instantiate(ctx, runtime)
	require.NoError(t, err)
}

// counter counts the calls of WASI functions.
type counter struct{ calls int }

func (c *counter) NewFunctionListener(f api.FunctionDefinition) experimental.FunctionListener {
	if f.ModuleName() != wasi_snapshot_preview1.ModuleName {
		return nil
	}
	return experimental.FunctionListenerFunc(
		func(context.Context, api.Module, api.FunctionDefinition, []uint64, experimental.StackIterator) {
			c.calls++
		})
}

// Packing relies on this: the plain module calls no import after its start.
func TestChecksCallNoImports(t *testing.T) {
	var c counter
	ctx := experimental.WithFunctionListenerFactory(context.Background(), &c)
	runtime := wazero.NewRuntime(ctx)
	defer runtime.Close(ctx)
	instantiateWASI(ctx, t, runtime)
	config := wazero.NewModuleConfig().WithStartFunctions("_initialize")
	instance, err := runtime.InstantiateWithConfig(ctx, moduletest.Plain(t), config)
	require.NoError(t, err)
	require.NotZero(t, c.calls, "the counter does not work")
	c.calls = 0
	in, err := instance.ExportedFunction("addrspec_in_ptr").Call(ctx)
	require.NoError(t, err)
	const email = "jane@example.org"
	require.True(t, instance.Memory().WriteString(uint32(in[0]), email))
	for range 1000 {
		_, err := instance.ExportedFunction("addrspec_check").Call(ctx, uint64(len(email)), 0)
		require.NoError(t, err)
	}
	require.Zero(t, c.calls)
}
