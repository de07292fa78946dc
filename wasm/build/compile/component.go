package compile

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/wasm/build/pack"
	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// Component builds addrspec.component.wasm: a component without imports, for
// hosts of WASI 0.2 and later, that exports the interface in
// wasm/wit/addrspec.wit. It needs Node and, the first time, npm.
func Component(ctx context.Context) ([]byte, error) {
	// The core module: packed, and without the exports of addrspec.wasm.
	reactor, err := compile(ctx, "wasm/guest", named, "-buildmode=c-shared", "-tags=component")
	if err != nil {
		return nil, err
	}
	packed, err := pack.Pack(ctx, reactor)
	if err != nil {
		return nil, err
	}
	core, err := binary.Decode(packed)
	if err != nil {
		return nil, err
	}
	core.Exports = slices.DeleteFunc(core.Exports, func(e binary.Export) bool {
		return strings.HasPrefix(e.Name, "addrspec_")
	})
	wit, err := golang(ctx, "list", "-m", "-f", "{{.Dir}}/wasm/wit", strings.TrimSuffix(project, "/"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(wit, "node_modules")); err != nil { // jco is not installed
		if err := node(ctx, wit, "npm", "install", "--no-save", "--no-audit", "--no-fund"); err != nil {
			return nil, err
		}
	}
	temp, err := os.MkdirTemp("", "addrspec-component-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	from, to := filepath.Join(temp, "core.wasm"), filepath.Join(temp, "component.wasm")
	if err := os.WriteFile(from, core.Encode(), 0o600); err != nil {
		return nil, err
	}
	if err := node(ctx, wit, "node", "component.mjs", from, to); err != nil {
		return nil, err
	}
	return os.ReadFile(to)
}

// node runs a command of Node or npm in dir.
func node(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return nil
}
