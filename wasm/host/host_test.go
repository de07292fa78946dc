package host_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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

func TestCheckAnswersTheSixteenFields(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	answer, err := engine.Check(context.Background(), nil, "jane@example.org", 0)
	require.NoError(t, err)
	require.True(t, answer.Valid)
	require.Equal(t, "example.org", answer.Host)
}

func BenchmarkCheck(b *testing.B) {
	engine := newEngine(b, moduletest.Bytes(b), host.Options{Size: 1})
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		if _, err := engine.Check(context.Background(), buf[:0], "jane.doe@example.org", 0); err != nil {
			b.Fatal(err)
		}
	}
}

// The place of the mx value is where the answer says.
func TestAppendResultSetsMX(t *testing.T) {
	engine := newEngine(t, moduletest.Bytes(t), host.Options{Size: 1})
	answer, err := engine.Check(context.Background(), nil, "jane@example.org", 0)
	require.NoError(t, err)
	require.Equal(t, string(answer.JSON), string(answer.AppendResult(nil, false)))
	require.Equal(t, strings.Replace(string(answer.JSON), `"mx":false`, `"mx":true`, 1), string(answer.AppendResult(nil, true)))
	require.Equal(t, `"jane@example.org"`, string(answer.Email))
}
