package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPythonClient makes the client with openapi-python-client, checks it and a
// program that uses it with mypy, and runs the program.
func TestPythonClient(t *testing.T) {
	leaveToCI(t)
	t.Parallel()
	generator := tool{"pipx run openapi-python-client==" + pythonVersion(t, "openapi-python-client"), []string{pythonProgram(t, "openapi-python-client")}}
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS("python")))
	generator.generate(t, folder)
	run(t, folder, nil, pythonProgram(t, "mypy"), "--strict", "--cache-dir", mypyCache(t), "use.py")
	require.Equal(t, output, run(t, folder, start(t).environment(t), pythonProgram(t, "python3"), "use.py"))
}

// mypyCache returns a folder for what mypy knows of the packages that the client
// imports, which takes longer than to check the client.
func mypyCache(t *testing.T) string {
	t.Helper()
	folder, err := os.UserCacheDir()
	if err != nil {
		return t.TempDir()
	}
	return filepath.Join(folder, "addrspec", "mypy")
}

// TestSchemathesis sends requests that fit the description and requests that do
// not, and requires the answers that schemathesis.toml expects: the same 150
// requests each time, or with ADDRSPEC_ALL thousands of random ones.
func TestSchemathesis(t *testing.T) {
	leaveToCI(t)
	t.Parallel()
	program, size := pythonProgram(t, "schemathesis"), []string{"--max-examples", "5", "--seed", "1"}
	if os.Getenv("ADDRSPEC_ALL") != "" {
		size = []string{"--max-examples", "200"}
	}
	s := start(t)
	run(t, t.TempDir(), s.environment(t), append([]string{program, "--no-color", "--config-file", absolute(t, "schemathesis.toml"),
		"run", s.url + "/openapi.json"}, size...)...)
}

// pythonProgram returns the path of a program in the virtual environment, and
// skips the test if pip has not installed it.
func pythonProgram(t *testing.T, name string) string {
	t.Helper()
	python := os.Getenv("ADDRSPEC_PYTHON")
	if python == "" {
		python = "python3"
	}
	python, err := exec.LookPath(python)
	if err != nil {
		t.Skip("Python is not installed")
	}
	path := filepath.Join(filepath.Dir(python), name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s could not be fetched: pip install -r origin/contract/clients/requirements.txt, or set ADDRSPEC_PYTHON to a Python that has it", name)
	}
	return path
}

// pythonVersion returns the version of a package that requirements.txt pins.
func pythonVersion(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("requirements.txt")
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^` + name + `==(\S+)$`).FindSubmatch(text)
	require.NotNil(t, found, name)
	return string(found[1])
}
