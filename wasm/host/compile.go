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
	if err := checkInterface(compiled); err != nil {
		runtime.Close(ctx)
		return nil, notOurs(err)
	}
	return &program{runtime: runtime, compiled: compiled}, nil
}

func notOurs(err error) error { return fmt.Errorf("not a module of addrspec: %w", err) }

// compileIn compiles wasm with a cache, or without one if cacheDir is empty or cannot be a cache.
func compileIn(ctx context.Context, wasm []byte, cacheDir string) (wazero.Runtime, wazero.CompiledModule, error) {
	config := wazero.NewRuntimeConfig()
	if cacheDir != "" && os.MkdirAll(cacheDir, 0o700) == nil {
		if cache, err := wazero.NewCompilationCacheWithDir(cacheDir); err == nil {
			config = config.WithCompilationCache(cache)
		}
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	compiled, err := runtime.CompileModule(ctx, wasm)
	if err != nil {
		runtime.Close(ctx)
		return nil, nil, notOurs(err)
	}
	// The plain module needs WASI; the shipped one imports nothing.
	if len(compiled.ImportedFunctions()) > 0 {
		if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
			runtime.Close(ctx)
			return nil, nil, fmt.Errorf("start WASI: %w", err)
		}
	}
	return runtime, compiled, nil
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

// checkInterface returns an error if an export is missing or has another signature, or if
// anything but WASI is imported, so that a wrong file fails at the start and not at the first check.
func checkInterface(compiled wazero.CompiledModule) error {
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
	for _, f := range compiled.ImportedFunctions() {
		if from, name, _ := f.Import(); from != wasiModule {
			return fmt.Errorf("it imports %s.%s; only %s is available", from, name, wasiModule)
		}
	}
	return nil
}

func missing(export string) error { return fmt.Errorf("export %s is missing", export) }

func allI32(types []api.ValueType, count int) bool {
	return len(types) == count && !slices.ContainsFunc(types, func(t api.ValueType) bool {
		return t != api.ValueTypeI32
	})
}
