package flow_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
		m.Code[i] = flow.Function(code, m.Names)
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
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
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

// Without names of functions, calls that never return are like any others.
func TestNamesMakeCodeShorter(t *testing.T) {
	m, err := binary.Decode(moduletest.Plain(t))
	require.NoError(t, err)
	require.NotEmpty(t, m.Names)
	with, without := 0, 0
	for _, code := range m.Code {
		with += len(flow.Function(code, m.Names))
		without += len(flow.Function(code, nil))
	}
	require.Less(t, with, without*98/100)
}

// An address is computed again only behind a change of the pointer, or where another
// way joins.
func TestAddressesAreShared(t *testing.T) {
	const get, wrap, load, drop = "\x20\x02", "\xa7", "\x2d\x00\x00", "\x1a"
	const access, shared = get + wrap + load + drop, "\x20\x03" + load + drop
	const first = get + wrap + "\x22\x03" + load + drop
	const change = "\x42\x00\x21\x02"
	start, end := "\x01\x02\x7e\x20\x00\x0e\x00\x00\x0b", "\x00\x0b"
	for name, c := range map[string]struct{ code, want string }{
		"one after another":     {access + access, first + shared},
		"behind a change":       {access + change + access, first + change + first},
		"inside a block":        {access + "\x02\x40" + access + "\x0b" + access, first + "\x02\x40" + shared + "\x0b" + shared},
		"behind one of a block": {"\x02\x40" + access + "\x0b" + access, "\x02\x40" + first + "\x0b" + first},
		"changed in a block":    {access + "\x02\x40" + change + "\x0b" + access, first + "\x02\x40" + change + "\x0b" + first},
		"inside a loop":         {access + "\x03\x40" + access + "\x0b", first + "\x03\x40" + first + "\x0b"},
	} {
		got := flow.Function([]byte(strings.Replace(start, "\x20\x00\x0e", "\x02\x40\x20\x00\x0e", 1)+c.code+end), nil)
		require.Contains(t, string(got), c.want, name)
	}
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
		require.Equal(t, code, flow.Function(code, nil), name)
	}
}

// FuzzFunction looks for a panic: a builder may be given any module.
func FuzzFunction(f *testing.F) {
	f.Add([]byte{0, 0x02, 0x40, 0x20, 0, 0x0e, 0, 0, 0x0b, 0x00, 0x0b}) // one segment, which traps
	f.Add([]byte{0, 0x03, 0x40, 0x02, 0x40, 0x02, 0x40, 0x20, 0, 0x0e, 1, 0, 1, 0x0b, 0x41, 1, 0x21, 0, 0x0c, 1, 0x0b,
		0x41, 0, 0x21, 0, 0x0c, 0, 0x0b, 0x00, 0x0b}) // a loop of two segments
	f.Fuzz(func(t *testing.T, code []byte) {
		if len(code) < 4096 {
			flow.Function(code, map[uint32]string{0: "runtime.sigpanic"})
		}
	})
}
