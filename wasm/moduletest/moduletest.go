// Package moduletest builds the module for tests, so that `go test ./...`
// works in a fresh clone and always tests the current sources.
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
)

// prebuilt names a directory with modules that the caller has just built from
// these sources, as `build.sh test` does: building and packing them again in
// every test binary takes ten seconds each, and a minute under the race detector.
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

// once returns a function that reads the prebuilt module if there is one, and
// otherwise builds it once in the life of the test binary.
func once(file string, build func(context.Context) ([]byte, error)) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		if dir := os.Getenv(prebuilt); dir != "" {
			return os.ReadFile(filepath.Join(dir, file))
		}
		return build(context.Background())
	})
}

// Bytes returns addrspec.wasm as it is shipped: pre-initialized and without
// imports.
func Bytes(t testing.TB) []byte { return must(t, packed) }

// Plain returns the same module as a WASI reactor.
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

// CacheDir returns the directory in which test runs share compiled machine
// code. It is the user's, not the run's: under the race detector, compiling the
// module takes a minute. Files older than an hour are removed, since every
// change of the module adds 15 MB.
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
