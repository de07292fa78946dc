package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/wasm/build/compile"
	"github.com/addrspec/addrspec/wasm/build/pack"
)

const project = "github.com/addrspec/addrspec"

// build builds the module and, unless -binary was given, the program with the
// module embedded, as ./build.sh does.
func (l *lab) build(ctx context.Context) error {
	plain, err := compile.Reactor(ctx)
	if err != nil {
		return err
	}
	if l.module, err = pack.Pack(ctx, plain); err != nil {
		return err
	}
	if l.binary != "" {
		l.binary, err = filepath.Abs(l.binary)
		return err
	}
	l.binary = filepath.Join(l.dir, "addrspec")
	return l.buildProgram(ctx, l.binary, nil)
}

// buildProgram builds the program from the sources, with the files in replace in
// place of their originals (see `go help build`, -overlay). The module is embedded
// the same way, so that a run changes no source file.
func (l *lab) buildProgram(ctx context.Context, to string, replace map[string]string) error {
	root, err := output(ctx, withoutC, "go", "list", "-m", "-f", "{{.Dir}}", project)
	if err != nil {
		return err
	}
	module := filepath.Join(l.dir, "addrspec.wasm")
	if err := os.WriteFile(module, l.module, 0o600); err != nil {
		return err
	}
	all := map[string]string{filepath.Join(root, "wasm/module/addrspec.wasm"): module}
	for file, by := range replace {
		all[file] = by
	}
	listed, err := json.Marshal(map[string]any{"Replace": all})
	if err != nil {
		return err
	}
	overlay := to + "-overlay.json"
	if err := os.WriteFile(overlay, listed, 0o600); err != nil {
		return err
	}
	_, err = output(ctx, withoutC, "go", "build", "-trimpath", "-buildvcs=false", "-overlay", overlay, "-o", to, project+"/origin")
	return err
}

// withoutC is the environment variable with which ./build.sh builds the program.
var withoutC = []string{"CGO_ENABLED=0"}

// output runs a command with further environment variables and returns its
// standard output. Its error contains the standard error.
func output(ctx context.Context, environment []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), environment...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
