package pack_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/addrspec/addrspec/wasm/build/pack"
	"github.com/addrspec/addrspec/wasm/internal/binary"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

func decode(t *testing.T, wasm []byte) *binary.Module {
	t.Helper()
	m, err := binary.Decode(wasm)
	require.NoError(t, err)
	return m
}

func TestPackRemovesImports(t *testing.T) {
	require.NotEmpty(t, decode(t, moduletest.Plain(t)).Imports, "the plain module has no imports to remove")
	m := decode(t, moduletest.Bytes(t))
	require.Empty(t, m.Imports)
	require.Nil(t, m.Start)
	for _, e := range m.Exports {
		require.True(t, e.Name == "memory" || strings.HasPrefix(e.Name, "addrspec_"), "export %s", e.Name)
	}
}

func TestPackIsDeterministic(t *testing.T) {
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
	again, err := pack.Pack(context.Background(), moduletest.Plain(t))
	require.NoError(t, err)
	require.Equal(t, moduletest.Bytes(t), again)
}

// The data segments leave out zeros and may only grow by what the start
// allocates; garbage from the start would be shipped too.
func TestPackAddsLittleData(t *testing.T) {
	size := func(m *binary.Module) (n int) {
		for _, s := range m.Data {
			n += len(s.Bytes)
		}
		return n
	}
	plain, packed := size(decode(t, moduletest.Plain(t))), size(decode(t, moduletest.Bytes(t)))
	require.Less(t, packed, plain+696<<10)
}

// The smallest plan of the largest edge platform limits a worker to 3 MB, compressed. The
// module takes less than half of them, since others limit a worker to 2 MB, and a visitor
// of a page loads it.
func TestPackedSizeFitsSmallestEdgePlan(t *testing.T) {
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(moduletest.Bytes(t))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.LessOrEqual(t, zipped.Len(), 1_300_000)
}

func TestPackErrors(t *testing.T) {
	add := func(i binary.Import) func(*binary.Module) {
		return func(m *binary.Module) { m.Imports[0] = i }
	}
	for _, c := range []struct {
		name   string
		change func(*binary.Module)
		want   string
	}{
		{"another module's import", add(binary.Import{Module: "env", Name: "abort"}), "imports env.abort"},
		{"a WASI import without a stub", add(binary.Import{Module: "wasi_snapshot_preview1", Name: "path_open"}),
			"imports wasi_snapshot_preview1.path_open"},
		{"a known name with a wrong signature",
			add(binary.Import{Module: "wasi_snapshot_preview1", Name: "random_get", Type: 0}), "signature"},
		{"a type that does not exist",
			add(binary.Import{Module: "wasi_snapshot_preview1", Name: "random_get", Type: 1 << 20}), "signature"},
		{"a start that traps", func(m *binary.Module) {
			for n := range m.Code {
				m.Code[n] = []byte{0, 0x00, 0x0b} // unreachable
			}
		}, "_initialize"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := decode(t, moduletest.Plain(t))
			c.change(m)
			_, err := pack.Pack(context.Background(), m.Encode())
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := pack.Pack(context.Background(), []byte("not a module"))
	require.ErrorContains(t, err, "decode it")
}

// V8 must accept the packed module with an empty import object.
func TestPackedModuleRunsInNode(t *testing.T) {
	node := moduletest.Tool(t, "node")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "addrspec.wasm"), moduletest.Bytes(t), 0o600))
	const email = "jane+tag@example.org"
	cmd := exec.Command(node, "--input-type=module", "-e", `
		import { readFileSync } from "node:fs";
		const module = new WebAssembly.Module(readFileSync("addrspec.wasm"));
		const x = new WebAssembly.Instance(module, {}).exports;
		const email = new TextEncoder().encode(process.argv[1]);
		new Uint8Array(x.memory.buffer, x.addrspec_in_ptr() >>> 0).set(email);
		const n = x.addrspec_check(email.length, 0);
		process.stdout.write(new Uint8Array(x.memory.buffer, x.addrspec_out_ptr() >>> 0, n));`, email)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, string(vectors.Native()(email, false)), string(out))
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
	wasi_snapshot_preview1.MustInstantiate(ctx, runtime)
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
