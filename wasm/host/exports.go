package host

import (
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// signatures are the exports of interface version 1, with the numbers of their
// parameters and results. All types are i32.
var signatures = map[string]struct{ params, results int }{
	"addrspec_abi_version": {0, 1},
	"addrspec_in_ptr":      {0, 1},
	"addrspec_in_cap":      {0, 1},
	"addrspec_out_ptr":     {0, 1},
	"addrspec_out_cap":     {0, 1},
	"addrspec_report_ptr":  {0, 1},
	"addrspec_check":       {2, 1},
	"addrspec_info":        {0, 1},
	"addrspec_lists":       {1, 1},
}

// checkExports returns an error if an export is missing or has another
// signature, so that a wrong file fails at the start and not at the first check.
func checkExports(compiled wazero.CompiledModule) error {
	exported := compiled.ExportedFunctions()
	for name, want := range signatures {
		f, ok := exported[name]
		if !ok {
			return fmt.Errorf("export %s is missing", name)
		}
		if !allI32(f.ParamTypes(), want.params) || !allI32(f.ResultTypes(), want.results) {
			return fmt.Errorf("export %s has another signature", name)
		}
	}
	if _, ok := compiled.ExportedMemories()["memory"]; !ok {
		return fmt.Errorf("export memory is missing")
	}
	return nil
}

func allI32(types []api.ValueType, count int) bool {
	return len(types) == count && !slices.ContainsFunc(types, func(t api.ValueType) bool {
		return t != api.ValueTypeI32
	})
}
