// Package compile makes the modules with the Go tool chain. The same commit and
// the same tool chain give the same octets, wherever the sources lie.
package compile

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/wasm/build/pack"
)

const project = "github.com/addrspec/addrspec/"

// Reactor builds the plain module: a WASI reactor, to be started with
// `_initialize`.
func Reactor(ctx context.Context) ([]byte, error) {
	return compile(ctx, "wasm/guest", "-buildmode=c-shared")
}

// Command builds addrspec-cli.wasm: a WASI command, addresses in, NDJSON out.
func Command(ctx context.Context) ([]byte, error) { return compile(ctx, "wasm/cli") }

// Packed returns the reactor pre-initialised and without imports: the
// addrspec.wasm that is shipped.
func Packed(ctx context.Context, reactor []byte) ([]byte, error) {
	packed, err := pack.Pack(ctx, reactor)
	if err != nil {
		return nil, fmt.Errorf("pack the module: %w", err)
	}
	return packed, nil
}

// compile builds one package for WASI. Names and tables for debuggers stay
// out, and so does all that differs from one machine to the next.
func compile(ctx context.Context, dir string, flags ...string) ([]byte, error) {
	temp, err := os.MkdirTemp("", "addrspec-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	overlay, err := withoutEmbed(ctx, temp, dir)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(temp, "module.wasm")
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=",
		"-overlay", overlay, "-o", file}, flags...)
	if _, err := golang(ctx, append(args, project+dir)...); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// golang runs the Go tool for WASI and returns what it printed.
func golang(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWASM=", "GOEXPERIMENT=", "CGO_ENABLED=0", "GOFLAGS=")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &said)
	}
	return strings.TrimSpace(out.String()), nil
}
