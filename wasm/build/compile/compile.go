// Package compile builds the modules from their sources with the Go tool chain.
// The same commit and the same tool chain give the same bytes, whatever directory
// the sources are in. Package pack makes the shipped module of the reactor.
package compile

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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

// withoutEmbed writes an overlay (see `go help build`) of the sources of dir that
// contains embedded files as string literals, and returns its path. The program
// is the same, but package embed imports io/fs, time and syscall, which the module
// does not need otherwise: 49 KB of it, compressed.
func withoutEmbed(ctx context.Context, temp, dir string) (overlay string, err error) {
	// Read all sources of the project, though few embed a file: go test records the
	// files that a test reads, and reuses its result only if none has changed.
	const filter = `{{if not .Standard}}{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}`
	list, err := golang(ctx, "list", "-deps", "-f", filter, project+dir)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for n, file := range strings.Split(list, "\n") {
		source, changed, err := inline(file)
		if err != nil {
			return "", err
		}
		if !changed {
			continue
		}
		replace[file] = filepath.Join(temp, "source"+strconv.Itoa(n)+".go")
		if err := os.WriteFile(replace[file], source, 0o600); err != nil {
			return "", err
		}
	}
	encoded, err := json.Marshal(struct{ Replace map[string]string }{replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(temp, "overlay.json")
	return overlay, os.WriteFile(overlay, encoded, 0o600)
}

// embedded matches a variable with one embedded file, alone or in a var group.
var embedded = regexp.MustCompile(`(?m)^[ \t]*//go:embed (\S+)\n([ \t]*(?:var )?\w+) +(\[\]byte|string)$`)

// inline returns the Go source in file with embedded files replaced by string
// literals, and whether there were any.
func inline(file string) (source []byte, changed bool, err error) {
	source, err = os.ReadFile(file)
	if err != nil {
		return nil, false, err
	}
	source = embedded.ReplaceAllFunc(source, func(match []byte) []byte {
		part := embedded.FindSubmatch(match)
		contents, readErr := os.ReadFile(filepath.Join(filepath.Dir(file), string(part[1])))
		if readErr != nil {
			err = fmt.Errorf("%s embeds a file: %w", file, readErr)
		}
		changed = true
		return fmt.Appendf(nil, "%s = %s(%+q)", part[2], part[3], contents)
	})
	return bytes.Replace(source, []byte(`_ "embed"`), []byte(`_ "unsafe"`), 1), changed, err
}
