// Package moduletest builds the module for tests, so that `go test ./...` works
// in a fresh clone and always tests the current sources. It also makes defective
// modules, which hosts must refuse or survive.
package moduletest

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/addrspec/addrspec/wasm/build/compile"
	"github.com/addrspec/addrspec/wasm/build/pack"
)

// prebuilt is the variable with the directory of modules that the caller has just
// built from these sources, as `build.sh test` does. Building them again takes
// each test binary ten seconds, and a minute under the race detector.
const prebuilt = "TEST_ADDRSPEC_MODULES"

var (
	plain   = once("addrspec-plain.wasm", compile.Reactor)
	command = once("addrspec-cli.wasm", compile.Command)
	packed  = once("addrspec.wasm", func(ctx context.Context) ([]byte, error) {
		reactor, err := plain()
		if err != nil {
			return nil, err
		}
		return pack.Pack(ctx, reactor)
	})
)

// once returns a function that reads the prebuilt module, if there is one, or
// builds it. Each test binary does so at most once.
func once(file string, build func(context.Context) ([]byte, error)) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		if dir := os.Getenv(prebuilt); dir != "" {
			return os.ReadFile(filepath.Join(dir, file))
		}
		return build(context.Background())
	})
}

// Bytes returns addrspec.wasm as it is shipped.
func Bytes(t testing.TB) []byte { return must(t, packed) }

// Plain returns addrspec-plain.wasm, the same module as a WASI reactor.
func Plain(t testing.TB) []byte { return must(t, plain) }

// Command returns addrspec-cli.wasm, the WASI command.
func Command(t testing.TB) []byte { return must(t, command) }

func must(t testing.TB, module func() ([]byte, error)) []byte {
	t.Helper()
	wasm, err := module()
	if err != nil {
		t.Fatalf("build the module: %v", err)
	}
	return wasm
}

// CacheDir returns the directory in which test runs share compiled machine code. It
// is in the user's cache directory and not in that of a run, since compiling the
// module under the race detector takes a minute. The first call deletes files
// older than an hour, since each change of the module adds 15 MB.
func CacheDir() string {
	prune()
	return cacheDir
}

var cacheDir = func() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "addrspec-test")
}()

var prune = sync.OnceFunc(func() {
	_ = filepath.WalkDir(cacheDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(path)
		}
		return nil
	})
})

// Swapped is a domain that is public only in [NewerLists].
const Swapped = "swapped.example"

// NewerLists returns a blob of the project's own tables and [Swapped].
func NewerLists(t testing.TB) []byte {
	t.Helper()
	blob, err := newerLists()
	if err != nil {
		t.Fatalf("pack newer lists: %v", err)
	}
	return blob
}

var newerLists = sync.OnceValues(func() ([]byte, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "addrspec-lists-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(strings.TrimSpace(string(root)), "lists"))); err != nil {
		return nil, err
	}
	public := filepath.Join(dir, "public.txt")
	text, err := os.ReadFile(public)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(public, append(text, "\n"+Swapped+" Test\n"...), 0o600); err != nil {
		return nil, err
	}
	out, err := exec.Command("go", "run", "github.com/addrspec/addrspec/lists/cmd", "pack", "--dir", dir).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(filepath.Join(dir, "lists.blob"))
})

// Tool returns the path of a program: name, as exec.LookPath finds it, or the first of
// places that is there. It skips the test if the program is missing or does not work,
// such as the cargo of a rustup without a toolchain.
func Tool(t testing.TB, name string, places ...string) string {
	t.Helper()
	for _, place := range append([]string{name}, places...) {
		path, err := exec.LookPath(place)
		if err != nil {
			continue
		}
		once, _ := broken.LoadOrStore(path, sync.OnceValue(func() string {
			flag := "--version"
			if name := filepath.Base(path); name == "java" || name == "javac" {
				flag = "-version" // Java 8 knows the short form only
			}
			out, err := exec.Command(path, flag).CombinedOutput()
			if err == nil {
				return ""
			}
			line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
			return cmp.Or(line, err.Error())
		}))
		if why := once.(func() string)(); why != "" {
			t.Skipf("skipped: %s does not work: %s", name, why)
		}
		return path
	}
	t.Skipf("skipped: %s is not installed", name)
	return ""
}

// broken has functions that run a program once, for its version, by path. They return the
// first line of what it prints if it fails.
var broken sync.Map

// Inputs lists the directories below roots, except hidden ones and those of packages and builds. A test
// calls it for the files that only other programs open: go test repeats a test that
// passed if what the test itself opened has changed, and an opened directory changes
// with its files.
func Inputs(t testing.TB, roots ...string) {
	t.Helper()
	built := []string{"node_modules", "target", "__pycache__"}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || path == root || !entry.IsDir() {
				return err
			}
			if name := entry.Name(); strings.HasPrefix(name, ".") || slices.Contains(built, name) {
				return filepath.SkipDir
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
