package flow_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/addrspec/addrspec/wasm/build/flow"
	"github.com/addrspec/addrspec/wasm/internal/binary"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// rewrite returns wasm with every function rewritten, and how many bytes of code are in
// functions that are the same as before.
func rewrite(t *testing.T, wasm []byte) (rewritten []byte, same, all int) {
	t.Helper()
	m, err := binary.Decode(wasm)
	require.NoError(t, err)
	for i, code := range m.Code {
		m.Code[i] = flow.Function(code)
		all += len(code)
		if bytes.Equal(m.Code[i], code) {
			same += len(code)
		}
	}
	return m.Encode(), same, all
}

// run runs a WASI command in the compiler of wazero and returns what it prints and its
// exit code.
func run(t *testing.T, wasm []byte) (string, uint32) {
	t.Helper()
	ctx := context.Background()
	runtime := wazero.NewRuntime(ctx)
	defer runtime.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, runtime)
	var out bytes.Buffer
	_, err := runtime.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig().WithStdout(&out).WithStderr(&out))
	exit := new(sys.ExitError)
	require.ErrorAs(t, err, &exit)
	return out.String(), exit.ExitCode()
}

// A program whose goroutines are switched in loops, whose stacks grow and whose panics
// are recovered prints the same.
func TestProgramsAreTheSame(t *testing.T) {
	file := filepath.Join(t.TempDir(), "goroutines.wasm")
	cmd := exec.Command("go", "build", "-o", file, "./testdata/goroutines")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	wasm, err := os.ReadFile(file)
	require.NoError(t, err)
	rewritten, same, all := rewrite(t, wasm)
	require.Less(t, same, all/100)
	want, code := run(t, wasm)
	require.EqualValues(t, 3, code, want)
	got, code := run(t, rewritten)
	require.EqualValues(t, 3, code, got)
	require.Equal(t, want, got)
}

// Nearly all of the module is rewritten, and gets smaller by that.
func TestModuleIsRewritten(t *testing.T) {
	plain := moduletest.Plain(t)
	rewritten, same, all := rewrite(t, plain)
	require.Less(t, same, all/200)
	require.Less(t, len(rewritten), len(plain))
}

// What is not a function of the compiler's form remains.
func TestOtherFunctionsRemain(t *testing.T) {
	for name, code := range map[string][]byte{
		"empty":                                {},
		"no blocks":                            {0, 0x41, 0, 0x0b},
		"no end":                               {0, 0x02, 0x40, 0x20, 0, 0x0e, 0, 0},
		"a table of nothing":                   {0, 0x20, 0, 0x0e, 0, 0, 0x0b},
		"an instruction beyond the compiler's": {0, 0x02, 0x40, 0x20, 0, 0x0e, 0, 0, 0x0b, 0xfd, 0, 0x00, 0x0b},
		"a table that leads out of its blocks": {0, 0x02, 0x40, 0x20, 0, 0x0e, 0, 5, 0x0b, 0x00, 0x0b},
	} {
		require.Equal(t, code, flow.Function(code), name)
	}
}

// FuzzFunction looks for a panic: a builder may be given any module.
func FuzzFunction(f *testing.F) {
	f.Add([]byte{0, 0x02, 0x40, 0x20, 0, 0x0e, 0, 0, 0x0b, 0x00, 0x0b}) // one segment, which traps
	f.Add([]byte{0, 0x03, 0x40, 0x02, 0x40, 0x02, 0x40, 0x20, 0, 0x0e, 1, 0, 1, 0x0b, 0x41, 1, 0x21, 0, 0x0c, 1, 0x0b,
		0x41, 0, 0x21, 0, 0x0c, 0, 0x0b, 0x00, 0x0b}) // a loop of two segments
	f.Fuzz(func(t *testing.T, code []byte) {
		if len(code) < 4096 {
			flow.Function(code)
		}
	})
}
