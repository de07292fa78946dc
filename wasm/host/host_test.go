package host_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

func newEngine(t testing.TB, wasm []byte, o host.Options) *host.Engine {
	t.Helper()
	o.CacheDir = moduletest.CacheDir()
	engine, err := host.New(context.Background(), wasm, o)
	require.NoError(t, err)
	t.Cleanup(func() { engine.Close(context.Background()) })
	return engine
}

func TestCheck(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	facts, err := engine.Check(context.Background(), nil, "jane@example.org", 0)
	require.NoError(t, err)
	require.True(t, facts.Valid)
	require.Equal(t, "example.org", facts.Host)
}

// Check may allocate only Facts.Host.
func TestCheckAllocations(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	var facts host.Facts
	var err error
	for _, flags := range []host.Flags{0, host.Details} {
		allocations := testing.AllocsPerRun(100, func() {
			if facts, err = engine.Check(context.Background(), facts.JSON[:0], "jane.doe@example.org", flags); err != nil {
				panic(err)
			}
		})
		require.LessOrEqual(t, allocations, 1.0, "flags %d", flags)
	}
}

// checked are addresses whose checks are compared: a usual one, and those that
// core.TestSearchWorst found to take the typo check longest. None should take three
// times as long as the usual one.
var checked = []string{
	"jane.doe@example.org", "jane.doe@hotmail.con", "jane.doe@gmial.com", "jane.doe@yahoo.0mmccomceo",
	"jane.doe@yahoo0.coop.gj", "jane.doe@maiil.coml2eu", "jane.doe@ma1ibok.ltntiu", "jane.doe@hotmail.le", "jane.doe@taeono.khi",
}

// BenchmarkCheck compares the module with native core.
func BenchmarkCheck(b *testing.B) {
	engine := newEngine(b, moduletest.Bytes(b), host.Options{Size: 1})
	for _, email := range checked {
		b.Run(email+"/native", func(b *testing.B) { benchmarkNative(b, email) })
		b.Run(email+"/wazero", func(b *testing.B) { benchmarkModule(b, engine, email) })
	}
}

func benchmarkNative(b *testing.B, email string) {
	checker, line := core.New(lists.Default()), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		native := checker.Check([]byte(email))
		line, _ = core.AppendJSON(line[:0], &native, false)
	}
}

func benchmarkModule(b *testing.B, engine *host.Engine, email string) {
	var facts host.Facts
	var err error
	b.ReportAllocs()
	for b.Loop() {
		if facts, err = engine.Check(context.Background(), facts.JSON[:0], email, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAppendResult(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	facts, err := engine.Check(context.Background(), nil, "jane@example.org", 0)
	require.NoError(t, err)
	require.Equal(t, string(facts.JSON), string(facts.AppendResult(nil, false)))
	require.Equal(t, strings.Replace(string(facts.JSON), `"mx":false`, `"mx":true`, 1), string(facts.AppendResult(nil, true)))
	require.Equal(t, string(facts.JSON), string(facts.Result(false)))
	want := string(facts.AppendResult(nil, true))
	require.Equal(t, want, string(facts.Result(true)))
	require.Equal(t, `"jane@example.org"`, string(facts.Email))
}
