package build

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// A panic comes to the host as an answer where it is recovered, and as a trap
// where it is not, though the packed module holds no names and lines to print.
func TestAPackedModuleSurvivesItsPanics(t *testing.T) {
	ctx := context.Background()
	reactor, err := Reactor(ctx, "defects")
	require.NoError(t, err)
	packed, err := Packed(ctx, reactor)
	require.NoError(t, err)
	runtime := wazero.NewRuntime(ctx)
	defer runtime.Close(ctx)
	module, err := runtime.Instantiate(ctx, packed)
	require.NoError(t, err)
	defect := module.ExportedFunction("addrspec_defect")
	for range 100 {
		result, err := defect.Call(ctx, 1)
		require.NoError(t, err)
		require.EqualValues(t, -3, api.DecodeI32(result[0]))
	}
	_, err = defect.Call(ctx, 0)
	require.ErrorContains(t, err, "unreachable")
}
