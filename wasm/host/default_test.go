package host_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/module"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// The default engine runs the embedded module, and is one for the whole program.
func TestDefault(t *testing.T) {
	if _, err := module.Bytes(); err != nil {
		_, got := host.Default()
		require.ErrorIs(t, got, module.ErrMissing)
		t.Skip("the module is not built: ./build.sh builds it")
	}
	t.Setenv("XDG_CACHE_HOME", moduletest.CacheDir())
	engine, err := host.Default()
	require.NoError(t, err)
	again, err := host.Default()
	require.NoError(t, err)
	require.Same(t, engine, again)
	facts, err := engine.Check(t.Context(), nil, "jane@example.org", 0)
	require.NoError(t, err)
	require.Equal(t, string(vectors.Native()("jane@example.org", false)), string(facts.JSON))
}
