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

var cacheDir = filepath.Join(userCacheDir(), "addrspec-test")

func userCacheDir() string {
	if dir, err := os.UserCacheDir(); err == nil {
		return dir
	}
	return os.TempDir()
}

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
	if err := appendTo(filepath.Join(dir, "public.txt"), "\n"+Swapped+" Test\n"); err != nil {
		return nil, err
	}
	out, err := exec.Command("go", "run", "github.com/addrspec/addrspec/lists/cmd", "pack", "--dir", dir).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(filepath.Join(dir, "lists.blob"))
})

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(text)
	return err
}

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
		if why := brokenBecause(path); why != "" {
			t.Skipf("skipped: %s does not work: %s", name, why)
		}
		return path
	}
	t.Skipf("skipped: %s is not installed", name)
	return ""
}

// broken has the reasons why programs do not work, by path.
var broken sync.Map

// brokenBecause runs the program once, for its version, and returns the first line of
// what it prints if it fails.
func brokenBecause(path string) string {
	once, _ := broken.LoadOrStore(path, sync.OnceValue(func() string {
		out, err := exec.Command(path, versionFlag(filepath.Base(path))).CombinedOutput()
		if err == nil {
			return ""
		}
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return cmp.Or(line, err.Error())
	}))
	return once.(func() string)()
}

// versionFlag returns the argument with which a program prints its version: those of
// Java 8 know the short form only.
func versionFlag(program string) string {
	if program == "java" || program == "javac" {
		return "-version"
	}
	return "--version"
}

// Inputs lists the directories below roots, except hidden ones and those of packages and builds. A test
// calls it for the files that only other programs open: go test repeats a test that
// passed if what the test itself opened has changed, and an opened directory changes
// with its files.
func Inputs(t testing.TB, roots ...string) {
	t.Helper()
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && path != root && entry.IsDir() && isBuilt(entry.Name()) {
				return filepath.SkipDir
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func isBuilt(dir string) bool {
	return strings.HasPrefix(dir, ".") || slices.Contains([]string{"node_modules", "target", "__pycache__"}, dir)
}
