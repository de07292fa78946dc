package bindings_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// Under a limit of addresses, such as that of a batch queue, the wheels check the golden vectors.
func TestPythonLimitedAddresses(t *testing.T) {
	for engine, python := range map[string]func(*testing.T) string{
		"wasmtime": pythonWithWheel, "native": pythonWithNative,
		"oldest wasmtime": func(t *testing.T) string { return pythonWith(t, "oldest.txt") },
	} {
		t.Run(engine, func(t *testing.T) {
			limited := []string{"sh", "-c", `ulimit -v 2000000 && exec "$@"`, "sh", python(t), "-m", "addrspec", "-0"}
			newSample(golden(t), "\x00", "\x00").requireSame(t, limited)
		})
	}
}

// onlyOneByOne makes python -m addrspec check each address by a call of its own.
const onlyOneByOne = `
import addrspec, addrspec.__main__ as main
Checker = addrspec.Checker
Checker.check_many = lambda self, chunk: [self.check(address) for address in chunk]
Checker.explain_many = lambda self, chunk: [self.explain(address) for address in chunk]
raise SystemExit(main.main())`

// The wheels of both engines, installed as a user does, give the bytes of core.
func TestPythonPackage(t *testing.T) {
	for engine, python := range pythons {
		t.Run(engine, func(t *testing.T) {
			python := python(t)
			require.Equal(t, engine+"\n", run(t, "", []string{python, "-c", "import addrspec; print(addrspec.engine())"}))
			pack{many: []string{python, "-m", "addrspec"}, single: []string{python, "-c", onlyOneByOne}}.requireSameBytes(t)
		})
	}
}

// The package's own tests, on the installed wheels.
func TestPythonUnits(t *testing.T) {
	modules := t.TempDir()
	fragile, older := filepath.Join(modules, "fragile.wasm"), filepath.Join(modules, "older.wasm")
	require.NoError(t, os.WriteFile(fragile, moduletest.Fragile(t), 0o600))
	require.NoError(t, os.WriteFile(older, moduletest.Older(t), 0o600))
	policies, err := filepath.Abs("../vectors/policies.jsonl")
	require.NoError(t, err)
	for engine, python := range pythons {
		t.Run(engine, func(t *testing.T) {
			unittest(t, python(t), []string{"discover", "-s", pythonTests(t)}, "ADDRSPEC_FRAGILE="+fragile, "ADDRSPEC_OLDER="+older, "ADDRSPEC_POLICIES="+policies, "ADDRSPEC_FORMS="+formsTable(t))
		})
	}
}

// The type, the validator and the fields work with the oldest frameworks that pyproject.toml allows.
func TestPythonOldestFrameworks(t *testing.T) {
	unittest(t, pythonWith(t, "oldest.txt"), []string{"test_pydantic", "test_django"}, "PYTHONPATH="+pythonTests(t), "ADDRSPEC_FORMS="+formsTable(t))
}

func pythonTests(t *testing.T) string {
	t.Helper()
	tests, err := filepath.Abs("python/tests")
	require.NoError(t, err)
	return tests
}

// unittest runs tests of the installed wheel with these variables.
func unittest(t *testing.T, python string, args []string, variables ...string) {
	t.Helper()
	cmd := exec.Command(python, append(append([]string{"-B", "-m", "unittest"}, args...), "-v")...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), variables...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}

// A user's program has the types of the package, by two type checkers.
func TestPythonTypes(t *testing.T) {
	python := pythonWithWheel(t)
	user := filepath.Join(t.TempDir(), "user.py")
	require.NoError(t, os.WriteFile(user, readBytes(t, "python/tests/typed.py"), 0o600))
	for _, checker := range [][]string{{"-m", "mypy", "--strict", user}, append([]string{"-m", "mypy", "--strict"}, pythonModules(t)...), {"-m", "pyright", "--pythonpath", python, user}} {
		cmd := exec.Command(python, checker...)
		cmd.Dir = filepath.Dir(user)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

// pythonModules returns the modules of the package as options of mypy, but those whose
// engines only TestPythonEngines installs.
func pythonModules(t *testing.T) (options []string) {
	t.Helper()
	files, err := filepath.Glob("python/addrspec/*.py")
	require.NoError(t, err)
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".py"); name != "spark" && name != "ray" {
			options = append(options, "-m", strings.TrimSuffix("addrspec."+name, ".__init__"))
		}
	}
	require.NotEmpty(t, options)
	return options
}

// The types know every name that core gives.
func TestPythonNames(t *testing.T) {
	var roles, codes []string
	for role := core.Admin; role <= core.HR; role++ {
		roles = append(roles, role.String())
	}
	func() {
		defer func() { _ = recover() }() // the number after the last reason is out of range
		for reason := core.Reason(1); ; reason++ {
			codes = append(codes, reason.Code())
		}
	}()
	python := pythonWithWheel(t)
	require.NotEmpty(t, codes)
	require.Equal(t, strings.Join(roles, " ")+"\n"+strings.Join(codes, " ")+"\n", run(t, "", []string{python, "-B", "python/tests/names.py"}))
}

// pythonWithWheel returns a Python with the wheel and the newest versions of all else.
func pythonWithWheel(t *testing.T) (python string) {
	t.Helper()
	return pythonWith(t, "requirements.txt")
}

// pythons has a Python with the wheel of each engine.
var pythons = map[string]func(*testing.T) string{"wasmtime": pythonWithWheel, "native": pythonWithNative}

// pythonWithNative returns a Python for which pip has chosen the wheel with native code, beside that
// for any platform, and which has the packages of pythonWithWheel.
func pythonWithNative(t *testing.T) (python string) {
	t.Helper()
	packages, system := pythonWithWheel(t), find(t, "python3")
	t.Setenv("ADDRSPEC_PYTHON", packages)
	t.Setenv("WHEELS", "any linux-"+strings.TrimSpace(run(t, "", []string{"uname", "-m"})))
	directory := builtOnce(t, "python", func(directory string) {
		build(t, ".", system, "-m", "venv", "--without-pip", directory)
		buildPackage(t, "python", directory)
		pip := []string{system, "-m", "pip", "--python", filepath.Join(directory, "bin", "python3"), "install", "--quiet", "--disable-pip-version-check"}
		build(t, ".", append(pip, "--no-index", "--find-links", directory, "addrspec")...)
		build(t, ".", filepath.Join(directory, "bin", "python3"), "-c", `import site, sys; open(site.getsitepackages()[0] + "/packages.pth", "w").write(sys.argv[1])`,
			strings.TrimSpace(run(t, "", []string{packages, "-c", "import site; print(site.getsitepackages()[0])"})))
	}, append(determinesC(t), sourcesDigest(t, "c/src", nil))...)
	return filepath.Join(directory, "bin", "python3")
}

// pythonWith returns a Python with the wheel for any platform and what a file of python/tests has, in a
// virtual environment of its own.
func pythonWith(t *testing.T, file string) (python string) {
	t.Helper()
	useTestCache(t)
	system := find(t, "python3")
	file = filepath.Join("python/tests", file)
	directory := builtOnce(t, "python", func(directory string) {
		build(t, ".", system, "-m", "venv", "--without-pip", directory)
		python := filepath.Join(directory, "bin", "python3")
		pip := []string{system, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"}
		build(t, ".", append(pip, "-r", file)...)
		t.Setenv("ADDRSPEC_PYTHON", python)
		t.Setenv("WHEELS", "any")
		buildPackage(t, "python", directory)
		wheels, err := filepath.Glob(filepath.Join(directory, "*.whl"))
		require.NoError(t, err)
		require.Len(t, wheels, 1)
		build(t, ".", append(pip, wheels[0])...)
	}, string(readBytes(t, file)))
	return filepath.Join(directory, "bin", "python3")
}

func readBytes(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return content
}
