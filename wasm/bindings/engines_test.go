package bindings_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/vectors"
)

// The wheel in Spark, Ray, DuckDB and Polars, each from its registry. Spark alone takes
// minutes, so it runs only with ADDRSPEC_ALL set.
func TestPythonEngines(t *testing.T) {
	leftToAll(t, "it takes minutes and 1 GB of disk")
	python := pythonWithEngines(t)
	sample := engineSample(t)
	programs, err := filepath.Glob("python/engines/test_*.py")
	require.NoError(t, err)
	require.NotEmpty(t, programs)
	for _, program := range programs {
		t.Run(filepath.Base(program), func(t *testing.T) {
			program, err := filepath.Abs(program)
			require.NoError(t, err)
			cmd := exec.Command(python, "-B", program, "-v")
			cmd.Dir, cmd.Env = t.TempDir(), append(append(os.Environ(), sample...), "PYSPARK_PYTHON="+python, "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO=0")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			t.Logf("%s", out)
		})
	}
}

// engineSample writes addresses and the results of core to files, and returns variables
// that name the files.
func engineSample(t *testing.T) []string {
	t.Helper()
	s := newSample(append(golden(t), vectors.Generate(6, 50_000)...), "\x00", "\x00")
	addresses, results := filepath.Join(t.TempDir(), "addresses"), filepath.Join(t.TempDir(), "results")
	require.NoError(t, os.WriteFile(addresses, []byte(s.input), 0o600))
	require.NoError(t, os.WriteFile(results, []byte(strings.Join(s.want, "")), 0o600))
	return []string{"ADDRSPEC_ADDRESSES=" + addresses, "ADDRSPEC_RESULTS=" + results}
}

// pythonWithEngines returns a Python with the wheel and the engines.
func pythonWithEngines(t *testing.T) (python string) {
	t.Helper()
	wheels, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(pythonWithWheel(t))), "*.whl"))
	require.NoError(t, err)
	require.Len(t, wheels, 1)
	system, requirements := find(t, "python3"), "python/engines/requirements.txt"
	engines := filepath.Join(cache(t), "engines")
	python = filepath.Join(engines, "bin", "python3")
	if _, err := os.Stat(python); err != nil {
		build(t, ".", system, "-m", "venv", "--without-pip", engines)
	}
	pip := []string{system, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"}
	build(t, ".", append(pip, "-r", requirements)...)
	build(t, ".", append(pip, "--force-reinstall", "--no-deps", wheels[0])...)
	return python
}
