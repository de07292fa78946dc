package host

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/addrspec/addrspec/wasm/module"
)

// Default returns an Engine for the module that the program embeds, the same one at
// every call. It keeps machine code in the user's cache folder, since compiling takes a
// second. It fails with module.ErrMissing if the program was compiled from a checkout
// in which the module was not built; the Go module from a proxy has it.
//
// The engine belongs to the whole program: do not close it. Use New for an engine with
// other options, and with other lists than those of the rest of the program.
func Default() (*Engine, error) { return defaultEngine() }

var defaultEngine = sync.OnceValues(func() (*Engine, error) {
	wasm, err := module.Open()
	if err != nil {
		return nil, err
	}
	return Open(context.Background(), wasm, Options{CacheDir: userCache()})
})

// userCache returns the folder in which `addrspec check` keeps machine code, or "",
// which means no cache, if the user has no such folder.
func userCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "addrspec")
}
