package host_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// An instance that failed is discarded, and the next call gets a new one.
func TestCheckAfterTrap(t *testing.T) {
	engine := newEngine(t, moduletest.Fragile(t), host.Options{Size: 1})
	same := requireSame(t, engine)
	for _, bad := range []string{"!@example.org", "?@example.org", "#@example.org"} {
		for range 3 {
			_, err := engine.Check(context.Background(), nil, bad, 0)
			require.ErrorContains(t, err, "the module failed", bad)
			require.NotContains(t, err.Error(), bad, "the error must not contain the address")
			same(t, "jane@example.org", 0)
		}
	}
	require.EqualValues(t, 9, engine.Stats().Trapped)
}

// Many callers share two instances, which fail again and again.
func TestCheckConcurrent(t *testing.T) {
	engine := newEngine(t, moduletest.Fragile(t), host.Options{Size: 2})
	addresses := 200 // of each caller
	if testing.Short() {
		addresses = 50 // a new instance after each takes 15 ms under the race detector
	}
	var callers sync.WaitGroup
	for seed := range uint64(8) {
		callers.Go(func() {
			same := requireSame(t, engine)
			for _, email := range vectors.Generate(seed, addresses) {
				if strings.ContainsAny(email[:min(1, len(email))], "!?#") {
					continue
				}
				same(t, email, 0)
				_, err := engine.Check(context.Background(), nil, "!", 0)
				require.Error(t, err)
			}
		})
	}
	callers.Wait()
}
