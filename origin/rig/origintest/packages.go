package origintest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// python is read before tests of the command unset such variables, of which serve warns.
var python = os.Getenv("ADDRSPEC_PYTHON")

// PythonPackage returns a command that runs Python with our package, or skips the test where Python or
// what the package needs is missing.
func PythonPackage(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	if python == "" {
		python = "python3"
	}
	root, err := SourceDirectory(t.Context())
	require.NoError(t, err)
	cmd := exec.Command(python, append([]string{"-B"}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(root, "wasm/bindings/python"))
	found := exec.Command(python, "-B", "-c", "import addrspec, httpx")
	found.Env = cmd.Env
	if out, err := found.CombinedOutput(); err != nil {
		t.Skipf("skipped: Python, wasmtime or httpx is missing, or set ADDRSPEC_PYTHON: %v %.200s", err, out)
	}
	return cmd
}

// NodePackage returns a directory node_modules with our npm package, or skips the test where Node or the
// packages of edge/ are missing.
func NodePackage(t testing.TB) string {
	t.Helper()
	root, err := SourceDirectory(t.Context())
	require.NoError(t, err)
	edge, directory := filepath.Join(root, "edge"), t.TempDir()
	_, err = os.Stat(filepath.Join(edge, "node_modules/esbuild"))
	if err != nil {
		t.Skip("skipped: the packages of edge/ are missing; npm ci --prefix edge")
	}
	build := exec.Command("node", "build.mjs", "package", ModuleFile(t), filepath.Join(directory, "addrspec/lib"))
	build.Dir = edge
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.Symlink(filepath.Join(edge, "package.json"), filepath.Join(directory, "addrspec/package.json")))
	return directory
}
