package bindings_test

import (
	"os"
	"path/filepath"
	"testing"
)

func init() {
	bindings["C"] = c
}

func c(t *testing.T) []string {
	wasmtime := os.Getenv("ADDRSPEC_WASMTIME_C")
	if wasmtime == "" {
		t.Skip("set ADDRSPEC_WASMTIME_C to a folder with include and lib of wasmtime's C API")
	}
	program := filepath.Join(t.TempDir(), "host")
	build(t, "c", find(t, "cc"), "-Wall", "-Wextra", "-Werror", "-o", program, "addrspec.c", "-I", wasmtime+"/include",
		"-L", wasmtime+"/lib", "-Wl,-rpath,"+wasmtime+"/lib", "-lwasmtime", "-lpthread", "-ldl", "-lm")
	return []string{program}
}
