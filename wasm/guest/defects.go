//go:build wasip1 && defects

package main

// The tests build the module with an export that fails on purpose.

//go:wasmexport addrspec_defect
func exportDefect(recovered int32) (n int32) {
	if recovered != 0 {
		defer catch(&n)
	}
	return int32(in[outCap-int(recovered)]) // out of range
}
