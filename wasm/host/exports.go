package host

import (
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// signature has the numbers of an export's parameters and results, and the minor
// version of the interface that added it. All types are i32.
type signature struct{ params, results, since int }

// signatures are the exports of interface version 1.
var signatures = map[string]signature{
	"addrspec_abi_version": {0, 1, 0},
	"addrspec_in_ptr":      {0, 1, 0},
	"addrspec_in_cap":      {0, 1, 0},
	"addrspec_out_ptr":     {0, 1, 0},
	"addrspec_out_cap":     {0, 1, 0},
	"addrspec_report_ptr":  {0, 1, 0},
	"addrspec_check":       {2, 1, 0},
	"addrspec_check_many":  {2, 1, minorMany},
	"addrspec_info":        {0, 1, 0},
	"addrspec_lists":       {1, 1, 0},
}

// checkExports returns an error if an export is missing or has another
// signature, so that a wrong file fails at the start and not at the first check.
func checkExports(compiled wazero.CompiledModule) error {
	exported := compiled.ExportedFunctions()
	for name, want := range signatures {
		f, ok := exported[name]
		if !ok && want.since > 0 {
			continue // bind knows the module's version
		}
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
