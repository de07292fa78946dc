package compile

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// Component builds addrspec.component.wasm: a component without imports (WASI
// 0.2 and later run it) that exports wasm/wit/addrspec.wit. It needs Node, and
// npm the first time.
func Component(ctx context.Context) ([]byte, error) {
	core, err := componentCore(ctx)
	if err != nil {
		return nil, err
	}
	wit, err := golang(ctx, "list", "-m", "-f", "{{.Dir}}/wasm/wit", strings.TrimSuffix(project, "/"))
	if err != nil {
		return nil, err
	}
	if err := installTools(ctx, wit); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "addrspec-component-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	from, to := filepath.Join(temp, "core.wasm"), filepath.Join(temp, "component.wasm")
	if err := os.WriteFile(from, core, 0o600); err != nil {
		return nil, err
	}
	if err := node(ctx, wit, "node", "component.mjs", from, to); err != nil {
		return nil, err
	}
	return os.ReadFile(to)
}

// componentCore is the packed module with the component's exports alone.
func componentCore(ctx context.Context) ([]byte, error) {
	reactor, err := compile(ctx, "wasm/guest", "-buildmode=c-shared", "-tags=component")
	if err != nil {
		return nil, err
	}
	packed, err := Packed(ctx, reactor)
	if err != nil {
		return nil, err
	}
	m, err := binary.Decode(packed)
	if err != nil {
		return nil, err
	}
	m.Exports = slices.DeleteFunc(m.Exports, func(e binary.Export) bool {
		return strings.HasPrefix(e.Name, "addrspec_")
	})
	return m.Encode(), nil
}

// installTools brings jco into wit/node_modules, where it is not yet.
func installTools(ctx context.Context, wit string) error {
	if _, err := os.Stat(filepath.Join(wit, "node_modules")); err == nil {
		return nil
	}
	return node(ctx, wit, "npm", "install", "--no-save", "--no-audit", "--no-fund")
}

func node(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, said)
	}
	return nil
}
