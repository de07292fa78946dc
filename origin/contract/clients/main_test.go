package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/ledgertest"
	"github.com/addrspec/addrspec/origin/origintest"
)

// common is a folder for what all tests use.
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
	out, err := exec.Command("go", "build", "-o", file, "github.com/addrspec/addrspec/origin").CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return file, nil
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
	flags := origintest.ServeArgs(t, database, "--dns", contract.Serve(t), "--dns-timeout", "500ms", "--security-contact", "mailto:security@addrspec.example")
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
	none := ledger.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Limit(0)}
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

// tool is a command of origin/README.md that makes a client.
type tool struct {
	command string // how README.md starts it, with its version
	program []string
}

// generate runs the command of README.md in a folder with openapi.json.
func (c tool) generate(t *testing.T, folder string) {
	t.Helper()
	text, err := os.ReadFile("../../api/openapi.json")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "openapi.json"), text, 0o600))
	run(t, folder, nil, append(c.program, c.arguments(t)...)...)
}

// arguments returns those that README.md gives the tool.
func (c tool) arguments(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if given, ok := strings.CutPrefix(strings.TrimSpace(line), c.command+" "); ok {
			return strings.Fields(given)
		}
	}
	require.Fail(t, "origin/README.md has no line that starts with "+c.command)
	return nil
}

// run runs a command in a folder and returns what it prints. further are
// variables of its environment.
func run(t *testing.T, folder string, further []string, command ...string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), further...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", strings.Join(command, " "), out)
	return string(out)
}

// absolute returns the absolute path of a file in this package's folder.
func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	require.NoError(t, err)
	return path
}
