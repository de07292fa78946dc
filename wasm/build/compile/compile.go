// Package compile builds the modules from their sources with the Go tool chain.
// The same commit and the same tool chain give the same bytes, whatever folder
// the sources are in. Package pack makes the shipped module of the reactor.
package compile

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// profile is where a check spends its time (../profile). The compiler inlines more
// there, so a check takes 0.92 of the time in wazero and 0.90 in V8.
//
//go:embed check.pgo
var profile []byte

// inlineBudget limits what is inlined there. With 500 the JVM, which leaves long functions
// interpreted, takes 48 µs for a check in place of 27, and no other engine gains.
const inlineBudget = "-gcflags=all=-d=pgoinlinebudget=160"

const project = "github.com/addrspec/addrspec/"

// named keeps the names of functions, which packages flow and pack use.
const named = "-ldflags=-w -buildid="

// Reactor builds addrspec-plain.wasm, a WASI reactor. A host must call its export
// `_initialize` first. It has the names of functions.
func Reactor(ctx context.Context) ([]byte, error) {
	return compile(ctx, "wasm/guest", named, "-buildmode=c-shared")
}

// Command builds addrspec-cli.wasm, a WASI command that reads addresses and
// prints NDJSON.
func Command(ctx context.Context) ([]byte, error) { return compile(ctx, "wasm/cli") }

// compile builds the package in dir for WASI. It leaves out everything that differs
// between machines and, unless the flags say otherwise, names and debug information.
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
	inlined := filepath.Join(temp, "check.pgo")
	if err := os.WriteFile(inlined, profile, 0o600); err != nil {
		return nil, err
	}
	file := filepath.Join(temp, "module.wasm")
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=",
		"-overlay", overlay, "-pgo", inlined, inlineBudget, "-o", file}, flags...)
	if _, err := golang(ctx, append(args, project+dir)...); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// golang runs the go command with WASI as the target and returns its output.
func golang(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWASM=", "GOEXPERIMENT=", "CGO_ENABLED=0", "GOFLAGS=")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	return strings.TrimSpace(stdout.String()), nil
}
