package host_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/pack/binary"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// fragile is the module with three defects: an address that begins with "!"
// makes it trap, with "?" answer that it panicked, and with "#" answer more
// octets than there are.
func fragile(t *testing.T) []byte {
	return patch(t, moduletest.Bytes(t), func(m *binary.Module) {
		in := callTo(export(m, "addrspec_in_ptr").Index) + i32Load8
		begins := func(c byte) string { return in + i32Const(uint32(c)) + i32Equal + ifThen }
		check := localGet0 + localGet1 + callTo(export(m, "addrspec_check").Index)
		const panicked = 0xffff_fffd // -3
		replace(m, "addrspec_check",
			begins('!')+unreachable+end+
				begins('?')+i32Const(panicked)+yield+end+
				begins('#')+i32Const(1<<30)+yield+end+
				check)
	})
}

// An instance that failed is thrown away, and the next call gets a new one.
func TestCheckOutlivesAModuleThatFails(t *testing.T) {
	engine := newEngine(t, fragile(t), host.Options{Size: 1})
	same := sameAs(t, engine)
	for _, bad := range []string{"!@example.org", "?@example.org", "#@example.org"} {
		for range 3 {
			_, err := engine.Check(context.Background(), nil, bad, 0)
			require.ErrorContains(t, err, "the module failed", bad)
			require.NotContains(t, err.Error(), bad, "an error holds no address")
			same(t, "jane@example.org", 0)
		}
	}
	require.EqualValues(t, 9, engine.Stats().Trapped)
}

// Many callers share few instances, some of which fail.
func TestCheckServesManyAtOnce(t *testing.T) {
	engine := newEngine(t, fragile(t), host.Options{Size: 2})
	var callers sync.WaitGroup
	for seed := range uint64(8) {
		callers.Go(func() {
			same := sameAs(t, engine)
			for _, email := range vectors.Generate(seed, 200) {
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
