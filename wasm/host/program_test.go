package host_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/internal/binary"
	"github.com/addrspec/addrspec/wasm/internal/slim"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// Checks, bulk checks and new lists call no function but those that the packer saw, and
// the results are those of core. Hundreds of details do not either; thousands run the
// module's garbage collector.
func TestChecksNeedNoWholeModule(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	same := requireSame(t, engine)
	for n, email := range vectors.Generate(7, 8000) {
		same(t, email, host.Flags(n%2))
	}
	for n, email := range vectors.Generate(8, 400) {
		same(t, email, host.Details|host.Flags(n%2))
	}
	require.NoError(t, engine.View().CheckMany(t.Context(), vectors.Generate(7, 8000), 0, func(int, host.Facts) {}))
	require.NoError(t, engine.SetLists(t.Context(), moduletest.NewerLists(t)))
	require.False(t, engine.Stats().Whole)
}

// without returns addrspec.wasm with a section which says that checks do not call the
// functions of these exports.
func without(t testing.TB, wasm []byte, exports ...string) []byte {
	var called []bool
	plain := moduletest.Patch(t, wasm, func(m *binary.Module) {
		for range m.Code {
			called = append(called, true)
		}
		for _, name := range exports {
			called[moduletest.Export(m, name).Index] = false
		}
	})
	return slim.Mark(plain, called)
}

// Whatever a slim instance lacks, the result is that of the whole module.
func TestWholeModuleIsLoaded(t *testing.T) {
	for _, export := range []string{"addrspec_abi_version", "addrspec_in_ptr", "addrspec_info", "addrspec_check", "addrspec_check_many"} {
		t.Run(export, func(t *testing.T) {
			if testing.Short() && export != "addrspec_check" {
				t.Skip("left to ./build.sh test ci")
			}
			engine := newEngine(t, without(t, moduletest.Bytes(t), export), host.Options{Size: 2})
			same := requireSame(t, engine)
			same(t, "jane@example.org", 0)
			same(t, "jane@gmial.com", host.Details)
			requireMany(t, engine.View(), vectors.Generate(3, 300))
			require.True(t, engine.Stats().Whole)
			require.Zero(t, engine.Stats().Trapped)
		})
	}
}

// requireMany requires from CheckMany the results of core, in order, each once.
func requireMany(t testing.TB, view *host.View, emails []string) {
	native, next := vectors.NativeWith(), 0
	require.NoError(t, view.CheckMany(context.Background(), emails, host.Details, func(n int, f host.Facts) {
		require.Equal(t, next, n)
		require.Equal(t, string(native(emails[n], false, true)), string(f.JSON))
		next++
	}))
	require.Len(t, emails, next)
}

// Lists need functions that a slim instance may lack, and a refusal is an answer, after
// which nothing else is tried.
func TestListsInWholeModule(t *testing.T) {
	engine := newEngine(t, without(t, moduletest.Bytes(t), "addrspec_lists"), host.Options{Size: 2})
	require.NoError(t, engine.SetLists(t.Context(), moduletest.NewerLists(t)))
	require.True(t, engine.Stats().Whole)
	engine = newEngine(t, moduletest.Bytes(t), host.Options{Size: 2})
	require.ErrorIs(t, engine.SetLists(t.Context(), []byte("no lists")), host.ErrLists)
	require.False(t, engine.Stats().Whole)
	require.ErrorIs(t, engine.SetLists(t.Context(), make([]byte, 5<<20)), host.ErrListsSize)
}

// The first callers all find that a function is missing.
func TestConcurrentCallersLoadWholeModule(t *testing.T) {
	engine := newEngine(t, without(t, moduletest.Bytes(t), "addrspec_check"), host.Options{Size: 4})
	var callers sync.WaitGroup
	for seed := range uint64(8) {
		callers.Go(func() {
			same := requireSame(t, engine)
			for _, email := range vectors.Generate(seed, 50) {
				same(t, email, 0)
			}
		})
	}
	callers.Wait()
	require.Zero(t, engine.Stats().Trapped)
}

// A defect is found in both modules, and reported.
func TestTrapInBothModules(t *testing.T) {
	engine := newEngine(t, without(t, moduletest.Fragile(t)), host.Options{Size: 1})
	same := requireSame(t, engine)
	for range 3 {
		same(t, "jane@example.org", 0)
		_, err := engine.Check(t.Context(), nil, "!@example.org", 0)
		require.ErrorContains(t, err, "the module failed")
	}
	require.EqualValues(t, 3, engine.Stats().Trapped)
}
