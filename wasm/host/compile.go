package host

import (
	"context"
	"fmt"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/addrspec/addrspec/wasm/internal/slim"
)

// abiMajor is the major version of the interface that this host supports, with
// any minor version.
const abiMajor = 1

// wasiModule is the only module from which imports are allowed.
const wasiModule = "wasi_snapshot_preview1"

// code is the machine code of a module, in a runtime of its own.
type code struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	memory   *slim.Module // fills the memory of an instance; nil if the engine does
}

// compile compiles wasm to machine code, cached in cacheDir for the next start. It
// returns an error unless the exports are those of the interface and the imports
// only WASI.
func compile(ctx context.Context, wasm []byte, cacheDir string) (*code, error) {
	runtime, compiled, err := compileIn(ctx, wasm, cacheDir)
	if err != nil && cacheDir != "" {
		// A cache that cannot be read or written, such as another user's, is left out,
		// since that only costs a second. The error may also be the module's.
		runtime, compiled, err = compileIn(ctx, wasm, "")
	}
	if err != nil {
		return nil, err
	}
	err = checkExports(compiled)
	if err == nil {
		err = checkImports(compiled)
	}
	if err != nil {
		runtime.Close(ctx)
		return nil, notOurs(err)
	}
	return &code{runtime: runtime, compiled: compiled}, nil
}

// compileIn compiles wasm with a cache, or without one if cacheDir is empty.
func compileIn(ctx context.Context, wasm []byte, cacheDir string) (wazero.Runtime, wazero.CompiledModule, error) {
	runtime := newRuntime(ctx, cacheDir)
	compiled, err := runtime.CompileModule(ctx, wasm)
	if err != nil {
		runtime.Close(ctx)
		return nil, nil, notOurs(err)
	}
	if err := startWASI(ctx, runtime, compiled); err != nil {
		runtime.Close(ctx)
		return nil, nil, err
	}
	return runtime, compiled, nil
}

func notOurs(err error) error { return fmt.Errorf("not a module of addrspec: %w", err) }

// newRuntime starts wazero. It ignores a folder that cannot be a cache.
func newRuntime(ctx context.Context, cacheDir string) wazero.Runtime {
	config := wazero.NewRuntimeConfig()
	if cacheDir != "" && os.MkdirAll(cacheDir, 0o700) == nil {
		if cache, err := wazero.NewCompilationCacheWithDir(cacheDir); err == nil {
			config = config.WithCompilationCache(cache)
		}
	}
	return wazero.NewRuntimeWithConfig(ctx, config)
}

// startWASI starts WASI if the module imports anything, as the plain one does. It takes 2 %
// of a start of check.
func startWASI(ctx context.Context, runtime wazero.Runtime, compiled wazero.CompiledModule) error {
	if len(compiled.ImportedFunctions()) == 0 {
		return nil
	}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
		return fmt.Errorf("start WASI: %w", err)
	}
	return nil
}

// checkImports returns an error if the module imports anything but WASI.
func checkImports(compiled wazero.CompiledModule) error {
	for _, f := range compiled.ImportedFunctions() {
		if from, name, _ := f.Import(); from != wasiModule {
			return fmt.Errorf("it imports %s.%s; only %s is available", from, name, wasiModule)
		}
	}
	return nil
}
