package host

import (
	"context"
	"fmt"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// abiMajor is the interface this host speaks; another minor is welcome.
const abiMajor = 1

// wasiModule is the one import module that a module may ask for.
const wasiModule = "wasi_snapshot_preview1"

// compile makes machine code of wasm, kept in cacheDir for the next start, and
// checks that the exports are those of the interface.
func compile(ctx context.Context, wasm []byte, cacheDir string) (wazero.Runtime, wazero.CompiledModule, error) {
	runtime, err := newRuntime(ctx, cacheDir)
	if err != nil {
		return nil, nil, err
	}
	compiled, err := runtime.CompileModule(ctx, wasm)
	if err == nil {
		err = checkExports(compiled)
	}
	if err == nil {
		err = checkImports(compiled)
	}
	if err != nil {
		runtime.Close(ctx)
		return nil, nil, fmt.Errorf("not a module of addrspec: %w", err)
	}
	return runtime, compiled, nil
}

// newRuntime starts wazero with WASI, which the plain build of the module
// imports. A cache that cannot be used costs a second at the start, no more.
func newRuntime(ctx context.Context, cacheDir string) (wazero.Runtime, error) {
	config := wazero.NewRuntimeConfig()
	if cacheDir != "" && os.MkdirAll(cacheDir, 0o700) == nil {
		if cache, err := wazero.NewCompilationCacheWithDir(cacheDir); err == nil {
			config = config.WithCompilationCache(cache)
		}
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
		runtime.Close(ctx)
		return nil, fmt.Errorf("start WASI: %w", err)
	}
	return runtime, nil
}

// checkImports refuses a module that wants more than WASI from its host.
func checkImports(compiled wazero.CompiledModule) error {
	for _, f := range compiled.ImportedFunctions() {
		if from, name, _ := f.Import(); from != wasiModule {
			return fmt.Errorf("it imports %s.%s; only %s is given", from, name, wasiModule)
		}
	}
	return nil
}
