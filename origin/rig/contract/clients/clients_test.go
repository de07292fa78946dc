// Package clients_test tests openapi.json with the tools that its readers use: two
// linters, Schemathesis, and a generator of clients each for Go, TypeScript and
// Python. The client is made by the commands of origin/api/README.md, compiled or
// type-checked, and used by a program in the directory of its language.
//
// The tools are fetched by build.sh: those of npm by package-lock.json, those of
// Python by requirements.txt, oapi-codegen by .ci/tools. A test whose tool is
// missing is skipped.
package clients_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// common is a directory for what all tests use.
var common string

func TestMain(m *testing.M) {
	var err error
	if common, err = os.MkdirTemp("", "clients"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(common)
	os.Exit(code)
}

// leaveToCI skips the test in the layer of an edit.
func leaveToCI(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
}

// program returns the path of addrspec, built once for all tests.
var program = sync.OnceValues(func() (string, error) {
	file := filepath.Join(common, "addrspec")
	return file, origintest.BuildProgram(context.Background(), file)
})

// A service is a running `addrspec serve`.
type service struct {
	url    string
	ledger *ledger.Ledger
}

// start runs `addrspec serve` until the test ends.
func start(t *testing.T) service {
	t.Helper()
	file, err := program()
	require.NoError(t, err)
	database, log := origintest.NewDatabase(t), new(origintest.Log)
	flags := origintest.ServeArgs(t, database, "--dns", contract.Serve(t), "--dns-timeout", "500ms", "--security-txt", origintest.SecurityTxt(t))
	cmd := exec.Command(file, flags...)
	cmd.Stderr = log
	running, err := origintest.Start(cmd, origintest.OnStdout)
	require.NoError(t, err, log)
	t.Cleanup(running.Kill)
	hostPort, err := origintest.AddressIn(running.FirstLine)
	require.NoError(t, err)
	return service{"http://" + hostPort, ledgertest.Open(t, database)}
}

// environment returns the variables of a program that uses a client: the address
// of the service, a key, and a key without points.
func (s service) environment(t *testing.T) []string {
	none := book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(0)}
	poor, _ := ledgertest.NewAccountOn(t, s.ledger, "poor@contract.test", none)
	return []string{"ADDRSPEC_URL=" + s.url, "ADDRSPEC_KEY=" + ledgertest.NewAccount(t, s.ledger, "a@contract.test"),
		"ADDRSPEC_POOR_KEY=" + poor}
}

// output is what the program of each language prints: typed members of results,
// problems and headers.
const output = `single jane.doe@mail.example mx=true role=null
role General
invalid 400 INVALID_EMAIL_FORMAT
batch total=3 valid=1 invalid=1 errors=1 points=3
item jane.@mail.example success normalized=null
item jane@servfail.example error DNS_FAILURE
usage used=5 limit=null
no key 401 INVALID_API_KEY
too few points 402 INSUFFICIENT_USAGE required=2 remaining=0
too few points 429 Too Many Requests
`

// tool is a command of origin/api/README.md that makes a client.
type tool struct {
	command string // how README.md starts it, with its version
	program []string
}

// generate runs the command of README.md in a directory with openapi.json.
func (c tool) generate(t *testing.T, directory string) {
	t.Helper()
	text, err := os.ReadFile("../../../api/openapi.json")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(directory, "openapi.json"), text, 0o600))
	run(t, directory, nil, append(c.program, c.arguments(t)...)...)
}

// arguments returns those that origin/api/README.md gives the tool.
func (c tool) arguments(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../../api/README.md")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if given, ok := strings.CutPrefix(strings.TrimSpace(line), c.command+" "); ok {
			return strings.Fields(given)
		}
	}
	require.Fail(t, "origin/api/README.md has no line that starts with "+c.command)
	return nil
}

// run runs a command in a directory and returns what it prints. further are
// variables of its environment.
func run(t *testing.T, directory string, further []string, command ...string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), further...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", strings.Join(command, " "), out)
	return string(out)
}

// absolute returns the absolute path of a file in this package's directory.
func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	require.NoError(t, err)
	return path
}

// TestGoClient makes the client with oapi-codegen.
func TestGoClient(t *testing.T) {
	leaveToCI(t)
	t.Parallel()
	generator := oapiCodegen(t)
	directory := t.TempDir()
	require.NoError(t, os.CopyFS(directory, os.DirFS("go")))
	require.NoError(t, os.Mkdir(filepath.Join(directory, "client"), 0o755))
	if out, err := exec.Command("go", "-C", directory, "mod", "download").CombinedOutput(); err != nil {
		t.Skipf("the modules that a client needs could not be fetched: %s", out)
	}
	generator.generate(t, directory)
	run(t, directory, nil, "go", "vet", ".")
	require.Equal(t, output, run(t, directory, start(t).environment(t), "go", "run", "."))
}

// oapiCodegen returns the tool that .ci/tools/go.mod pins. go tool -n builds it
// and prints its path.
func oapiCodegen(t *testing.T) tool {
	t.Helper()
	out, err := exec.Command("go", "tool", "-modfile=../../../../.ci/tools/go.mod", "-n", "oapi-codegen").Output() // standard error has what go downloads
	if err != nil {
		t.Skipf("oapi-codegen could not be fetched: %v", err)
	}
	program := strings.TrimSpace(string(out))
	name := strings.Fields(run(t, ".", nil, program, "-version")) // path and version
	return tool{"go run " + strings.Join(name, "@"), []string{program}}
}

// descriptions are the files that the linters read.
var descriptions = []string{"../../../api/openapi.json", "../../../api/openapi-edge.json"}

// TestLint requires that neither linter has a warning, with all rules that they
// recommend.
func TestLint(t *testing.T) {
	leaveToCI(t)
	for name, arguments := range map[string][]string{
		"redocly":  {"lint", "--config", "redocly.yaml"},
		"spectral": {"lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quiet := []string{"REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"}
			readDescriptions(t)
			run(t, ".", quiet, append([]string{npmProgram(t, name)}, append(arguments, descriptions...)...)...)
		})
	}
}

// readDescriptions reads what the linters read. go test repeats a test that
// passed only if what the test itself opened has changed.
func readDescriptions(t *testing.T) {
	t.Helper()
	for _, file := range append([]string{"redocly.yaml", "spectral.yaml"}, descriptions...) {
		_, err := os.ReadFile(file)
		require.NoError(t, err)
	}
}

// TestTypeScriptClient makes types with openapi-typescript, checks a program that
// uses them with tsc, and runs it in Node.
func TestTypeScriptClient(t *testing.T) {
	leaveToCI(t)
	t.Parallel()
	generator := tool{"npx openapi-typescript@" + npmVersion(t, "openapi-typescript"), []string{npmProgram(t, "openapi-typescript")}}
	directory := t.TempDir()
	require.NoError(t, os.CopyFS(directory, os.DirFS("typescript")))
	require.NoError(t, os.Symlink(absolute(t, "node_modules"), filepath.Join(directory, "node_modules")))
	generator.generate(t, directory)
	run(t, directory, nil, npmProgram(t, "tsc"))
	require.Equal(t, output, run(t, directory, start(t).environment(t), "node", "use.js"))
}

// npmProgram returns the path of a program of package.json, and skips the test
// if npm has not installed it.
func npmProgram(t *testing.T, name string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node is not installed")
	}
	path := absolute(t, filepath.Join("node_modules", ".bin", name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s could not be fetched: npm ci --prefix origin/rig/contract/clients", name)
	}
	return path
}

// npmVersion returns the version of a package that package.json pins.
func npmVersion(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("package.json")
	require.NoError(t, err)
	var manifest struct{ DevDependencies map[string]string }
	require.NoError(t, json.Unmarshal(text, &manifest))
	require.Contains(t, manifest.DevDependencies, name)
	return manifest.DevDependencies[name]
}

// TestPythonClient makes the client with openapi-python-client, checks it and a
// program that uses it with mypy, and runs the program.
func TestPythonClient(t *testing.T) {
	leaveToCI(t)
	t.Parallel()
	generator := tool{"pipx run openapi-python-client==" + pythonVersion(t, "openapi-python-client"), []string{pythonProgram(t, "openapi-python-client")}}
	directory := t.TempDir()
	require.NoError(t, os.CopyFS(directory, os.DirFS("python")))
	generator.generate(t, directory)
	run(t, directory, nil, pythonProgram(t, "mypy"), "--strict", "--cache-dir", mypyCache(t), "use.py")
	require.Equal(t, output, run(t, directory, start(t).environment(t), pythonProgram(t, "python3"), "use.py"))
}

// mypyCache returns a directory for what mypy knows of the packages that the client
// imports, which takes longer than to check the client.
func mypyCache(t *testing.T) string {
	t.Helper()
	directory, err := os.UserCacheDir()
	if err != nil {
		return t.TempDir()
	}
	return filepath.Join(directory, "addrspec", "mypy")
}

// TestSchemathesis sends requests that fit the description and requests that do
// not, and requires the responses that schemathesis.toml expects: the same 150
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
		t.Skipf("%s could not be fetched: pip install -r origin/rig/contract/clients/requirements.txt, or set ADDRSPEC_PYTHON to a Python that has it", name)
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
