package edge_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// secret is the --edge-secret of the tests' origins and workers.
const secret = origintest.EdgeSecret

// A process is a program under test: its address and its output.
type process struct {
	pid      int
	hostPort string
	log      *origintest.Log
}

// startProcess runs cmd until the test ends and returns it with its first line.
func startProcess(t testing.TB, cmd *exec.Cmd, attach func(*exec.Cmd, *os.File)) (p *process, line string) {
	t.Helper()
	p = &process{log: new(origintest.Log)}
	cmd.Stdout, cmd.Stderr = p.log, p.log
	running, err := origintest.Start(cmd, attach)
	require.NoError(t, err, p.log)
	p.pid = running.PID()
	t.Cleanup(func() { _ = running.Terminate(hung) })
	return p, running.FirstLine
}

// startServer is [startProcess] for a program that prints its address.
func startServer(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p, line := startProcess(t, cmd, origintest.OnStdout)
	var err error
	p.hostPort, err = origintest.AddressIn(line)
	require.NoError(t, err)
	return p
}

// An origin is a running `addrspec serve`.
type origin struct {
	*process
	ledger *ledger.Ledger // the same database, opened a second time
}

// originProgram returns the path of addrspec, built once for all tests.
var originProgram = sync.OnceValues(func() (string, error) {
	program := filepath.Join(common, "addrspec")
	out, err := exec.Command("go", "build", "-o", program, "github.com/addrspec/addrspec/origin").CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return program, nil
})

// startOrigin runs `addrspec serve` until the test ends.
func startOrigin(t testing.TB, args ...string) *origin {
	t.Helper()
	program, err := originProgram()
	require.NoError(t, err)
	database := origintest.NewDatabase(t)
	args = append([]string{"--edge-secret", secret}, args...)
	p := startServer(t, exec.Command(program, origintest.ServeArgs(t, database, args...)...))
	return &origin{p, ledgertest.Open(t, database)}
}

// account creates an account without limits and returns a key for it.
func (o *origin) account(t testing.TB, email string) (key string) {
	t.Helper()
	return ledgertest.NewAccount(t, o.ledger, email)
}

// used returns the points that the account has used this month.
func (o *origin) used(t testing.TB, email string) int64 {
	t.Helper()
	return ledgertest.Used(t, o.ledger, email)
}

// found returns the sum of the account's usage history.
func (o *origin) found(t testing.TB, email string) (points int64, found book.Found) {
	t.Helper()
	return ledgertest.Usage(t, o.ledger, email)
}
