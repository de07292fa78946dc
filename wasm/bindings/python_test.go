package bindings_test

import (
	"os"
	"os/exec"
	"testing"
)

func init() {
	bindings["Python"] = python
}

func python(t *testing.T) []string {
	useTestCache(t)
	for _, program := range []string{os.Getenv("ADDRSPEC_PYTHON"), "python3"} {
		if program != "" && exec.Command(program, "-c", "import wasmtime").Run() == nil {
			return []string{program, "python/addrspec.py"}
		}
	}
	t.Skip("wasmtime is not installed for python3: pip install wasmtime, or set ADDRSPEC_PYTHON to a Python that has it")
	return nil
}
