// Package moduletest builds the module for tests, so that `go test ./...`
// works in a fresh clone and always tests the source as it is now.
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
)

var (
	plain = sync.OnceValues(func() ([]byte, error) {
		return compile.Reactor(context.Background())
	})
	command = sync.OnceValues(func() ([]byte, error) {
		return compile.Command(context.Background())
	})
	packed = sync.OnceValues(func() ([]byte, error) {
		reactor, err := plain()
		if err != nil {
			return nil, err
		}
		return compile.Packed(context.Background(), reactor)
	})
)

// Bytes is addrspec.wasm as it is shipped, pre-initialised and without
// imports, built once in a test binary's life by the Go tool chain that runs
// the test.
func Bytes(t testing.TB) []byte { return must(t, packed) }

// Plain is the same module as a WASI reactor.
func Plain(t testing.TB) []byte { return must(t, plain) }

// Command is addrspec-cli.wasm, the WASI command.
func Command(t testing.TB) []byte { return must(t, command) }

func must(t testing.TB, wasm func() ([]byte, error)) []byte {
	t.Helper()
	octets, err := wasm()
	if err != nil {
		t.Fatalf("build the module: %v", err)
	}
	return octets
}

// CacheDir is where compiled machine code is kept between test runs, for an
// hour: each change of the module leaves some 15 MB there.
func CacheDir() string {
	pruned()
	return cacheDir
}

var cacheDir = filepath.Join(os.TempDir(), "addrspec-test-cache")

var pruned = sync.OnceFunc(func() {
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
