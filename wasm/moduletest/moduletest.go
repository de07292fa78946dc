// Package moduletest builds the module for tests, so that `go test ./...` works
// in a fresh clone and always tests the current sources. It also makes defective
// modules, which hosts must refuse or survive.
package moduletest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/addrspec/addrspec/wasm/build/compile"
	"github.com/addrspec/addrspec/wasm/build/pack"
	"github.com/addrspec/addrspec/wasm/internal/binary"
)

// prebuilt is the variable with the folder of modules that the caller has just
// built from these sources, as `build.sh test` does. Building them again takes
// each test binary ten seconds, and a minute under the race detector.
const prebuilt = "ADDRSPEC_MODULES"

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

// Whole returns addrspec.wasm without the section by which a host loads a part of it.
func Whole(t testing.TB) []byte { return Patch(t, Bytes(t), func(*binary.Module) {}) }

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

// CacheDir returns the folder in which test runs share compiled machine code. It
// is in the user's cache folder and not in that of a run, since compiling the
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
