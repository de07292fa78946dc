package host

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// abiMajor is the major version of the interface that this host supports, with
// any minor version.
const abiMajor = 2

// wasiModule is the only module from which imports are allowed.
const wasiModule = "wasi_snapshot_preview1"

// program is the machine code of the module, in its own runtime.
type program struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
}

// compile compiles wasm to machine code, cached in cacheDir for the next start. It
// returns an error unless the exports are those of the interface and the imports
// only WASI.
func compile(ctx context.Context, wasm []byte, cacheDir string) (*program, error) {
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
	return &program{runtime: runtime, compiled: compiled}, nil
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

// newRuntime starts wazero. It ignores a directory that cannot be a cache.
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

// signature has the numbers of an export's parameters and results. All types are i32.
type signature struct{ params, results int }

// signatures are the exports of interface version 2.5 that this host calls.
var signatures = map[string]signature{
	"addrspec_abi_version": {0, 1},
	"addrspec_in_ptr":      {0, 1},
	"addrspec_in_cap":      {0, 1},
	"addrspec_out_ptr":     {0, 1},
	"addrspec_out_cap":     {0, 1},
	"addrspec_report_ptr":  {0, 1},
	"addrspec_check":       {2, 1},
	"addrspec_check_many":  {2, 1},
	"addrspec_exchanges":   {2, 1},
	"addrspec_info":        {0, 1},
	"addrspec_lists":       {1, 1},
	"addrspec_load_policy": {1, 1},
	"addrspec_verdict":     {2, 1},
}

// checkExports returns an error if an export is missing or has another
// signature, so that a wrong file fails at the start and not at the first check.
func checkExports(compiled wazero.CompiledModule) error {
	exported := compiled.ExportedFunctions()
	for name, want := range signatures {
		f, ok := exported[name]
		if !ok {
			return missing(name)
		}
		if !allI32(f.ParamTypes(), want.params) || !allI32(f.ResultTypes(), want.results) {
			return fmt.Errorf("export %s has another signature", name)
		}
	}
	if _, ok := compiled.ExportedMemories()["memory"]; !ok {
		return missing("memory")
	}
	return nil
}

func missing(export string) error { return fmt.Errorf("export %s is missing", export) }

func allI32(types []api.ValueType, count int) bool {
	return len(types) == count && !slices.ContainsFunc(types, func(t api.ValueType) bool {
		return t != api.ValueTypeI32
	})
}
