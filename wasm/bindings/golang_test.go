package bindings_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/wasm/module"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// goProject is an empty project of a user of the Go module.
type goProject struct {
	dir string
	env []string
}

// newGoProject makes the files of a module proxy and an empty project that uses them. Our
// module comes from these files alone. Others come from the machine's module cache, if
// it has them, and else from the usual proxy. The project's own module cache is empty.
func newGoProject(t *testing.T) goProject {
	t.Helper()
	skipWithoutBuiltModule(t)
	files := t.TempDir()
	build(t, ".", "sh", "go/package.sh", files)
	cache := strings.TrimSpace(run(t, "", []string{"go", "env", "GOMODCACHE"}))
	usual := strings.TrimSpace(run(t, "", []string{"go", "env", "GOPROXY"}))
	p := goProject{dir: t.TempDir()}
	p.env = append(os.Environ(),
		"GOPROXY=file://"+filepath.Join(files, "goproxy")+",file://"+filepath.Join(cache, "cache/download")+","+usual,
		"GOMODCACHE="+t.TempDir(), "GONOSUMDB=github.com/addrspec/addrspec", "GOWORK=off",
		"GOFLAGS=-mod=mod -modcacherw -trimpath") // trimpath: the compiled engine is found again
	p.run(t, "go", "mod", "init", "project.example")
	return p
}

// skipWithoutBuiltModule skips the test unless the tree has the module of its sources
// where the Go module embeds it from. ./build.sh test builds it first.
func skipWithoutBuiltModule(t *testing.T) {
	t.Helper()
	embedded, err := module.Bytes()
	if err != nil || !bytes.Equal(embedded, moduletest.Bytes(t)) {
		t.Skip("wasm/module/addrspec.wasm is missing or older than its sources: ./build.sh builds it")
	}
}

// run runs a command in the project and returns its output.
func (p goProject) run(t *testing.T, command ...string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	if err != nil && unreachable.Match(out) {
		t.Skipf("the proxy is unreachable: %s", out)
	}
	require.NoError(t, err, "%s\n%s", strings.Join(command, " "), out)
	return string(out)
}

// program gets the module, compiles the program of the directory go and returns its path.
func (p goProject) program(t *testing.T) string {
	t.Helper()
	sources, err := filepath.Glob("go/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	for _, source := range sources {
		text, err := os.ReadFile(source)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(p.dir, filepath.Base(source)), text, 0o600))
	}
	p.run(t, "go", "get", "github.com/addrspec/addrspec/core@v"+core.Version, "github.com/addrspec/addrspec/wasm/host@v"+core.Version)
	p.run(t, "go", "vet", ".")
	p.run(t, "go", "build", "-o", "program", ".")
	return filepath.Join(p.dir, "program")
}

// A user's program that gets the Go module from a proxy has the results of core, by the
// embedded module, one by one and in bulk, and natively.
func TestGoModuleFromProxy(t *testing.T) {
	leftToCI(t)
	program := newGoProject(t).program(t)
	useTestCache(t)
	list := append(golden(t), vectors.Generate(6, 50_000)...)
	all := newSample(list, "\x00", "\x00")
	lines := newSample(list[:2500], "\r\n\x00", "\n", "\r\n").withDetails()
	blob := moduletest.NewerLists(t)
	newer, damaged := blobFile(t, blob), blobFile(t, blob[:len(blob)-1])
	verdicts := placeSample(t)
	swapped := newSample(append([]string{"jane@" + moduletest.Swapped}, list[:500]...), "\x00", "\x00").withLists(t, blob)
	for name, mode := range map[string][]string{"module": {}, "module in bulk": {"-many"}, "native": {"-native"}} {
		t.Run(name, func(t *testing.T) {
			command := append([]string{program}, mode...)
			with := func(args ...string) []string { return append(command[:len(command):len(command)], args...) }
			all.requireSame(t, with("-0"))
			lines.requireSame(t, with("-d"))
			swapped.requireSame(t, with("-l", newer, "-0"))
			verdicts.requireSame(t, with("-p"))
			requireFails(t, "the blob is damaged", with("-l", damaged, "jane@example.org"))
			require.Equal(t, results([]string{"jane@example.org", "josé@bücher.example"}), run(t, "", with("jane@example.org", "josé@bücher.example")))
		})
	}
}

// maxGoModules is the most modules that a program with core alone has in its go.sum, and
// maxHostModules with the module's engine: wazero and what it requires.
const (
	maxGoModules   = 1
	maxHostModules = 3
)

// What a user's project has of our dependencies: core needs none, the host its engine.
// The go command leaves out the rest, as go.dev/ref/mod#graph-pruning describes.
func TestGoModuleBringsFewOthers(t *testing.T) {
	leftToCI(t)
	p := newGoProject(t)
	needs := func(importPath string, most int) {
		source := "package main\n\nimport _ \"github.com/addrspec/addrspec/" + importPath + "\"\n\nfunc main() {}\n"
		require.NoError(t, os.WriteFile(filepath.Join(p.dir, "main.go"), []byte(source), 0o600))
		p.run(t, "go", "get", "github.com/addrspec/addrspec/"+importPath+"@v"+core.Version)
		p.run(t, "go", "mod", "tidy")
		var manifest struct{ Require []struct{ Path string } }
		require.NoError(t, json.Unmarshal([]byte(p.run(t, "go", "mod", "edit", "-json")), &manifest))
		t.Logf("%s: go.mod requires %v; go.sum has %d lines", importPath, manifest.Require, strings.Count(p.read(t, "go.sum"), "\n"))
		require.LessOrEqual(t, len(manifest.Require), most)
	}
	needs("core", maxGoModules)
	needs("wasm/host", maxHostModules)
}

func (p goProject) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	require.NoError(t, err)
	return string(text)
}
