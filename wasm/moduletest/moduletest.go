// Package moduletest builds the module for tests, so that `go test ./...`
// works in a fresh clone and always tests the source as it is now.
package moduletest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var built = sync.OnceValues(build)

// Bytes is addrspec.wasm, built once in a test binary's life by the Go tool
// chain that runs the test.
func Bytes(t testing.TB) []byte {
	t.Helper()
	wasm, err := built()
	if err != nil {
		t.Fatalf("build the module: %v", err)
	}
	return wasm
}

func build() ([]byte, error) {
	dir, err := os.MkdirTemp("", "addrspec-module-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "addrspec.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=",
		"-buildmode=c-shared", "-o", file, "github.com/addrspec/addrspec/wasm/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// CacheDir is where compiled machine code is kept between test runs.
func CacheDir() string { return filepath.Join(os.TempDir(), "addrspec-test-cache") }
