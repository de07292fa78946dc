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
)

const project = "github.com/addrspec/addrspec"

// build makes the module and, unless one was given, the program with the
// module in it, as ./build.sh does.
func (l *lab) build(ctx context.Context) error {
	plain, err := compile.Reactor(ctx)
	if err != nil {
		return err
	}
	if l.module, err = compile.Packed(ctx, plain); err != nil {
		return err
	}
	if l.binary != "" {
		l.binary, err = filepath.Abs(l.binary)
		return err
	}
	l.binary = filepath.Join(l.dir, "addrspec")
	return l.buildProgram(ctx, l.binary, nil)
}

// buildProgram builds the program from the sources, of which replace names
// some to be taken from elsewhere (see `go help build`, -overlay). The module
// is embedded this way too, so that a run changes no file of the sources.
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

// withoutC is the environment in which ./build.sh builds the program.
var withoutC = []string{"CGO_ENABLED=0"}

// output runs a command, with further variables in its environment, and returns
// what it printed.
func output(ctx context.Context, environment []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), environment...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
