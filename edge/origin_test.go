package edge_test

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// secret is the --edge-secret of the tests' origins and workers.
const secret = "the secret of a test's deployment"

// process is a program under test: its output, and where it listens.
type process struct {
	hostPort string
	said     *output
	cmd      *exec.Cmd
}

// startProcess runs cmd until the test ends.
func startProcess(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{said: new(output), cmd: cmd}
	cmd.Stderr = p.said
	if cmd.Stdout == nil {
		cmd.Stdout = p.said
	}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	return p
}

// origin is a running `addrspec serve`.
type origin struct {
	*process
	ledger *ledger.Ledger // the same database, opened a second time
}

// originProgram is built once for all tests.
var originProgram = sync.OnceValues(func() (string, error) {
	program := filepath.Join(common, "addrspec")
	out, err := exec.Command("go", "build", "-o", program, "github.com/addrspec/addrspec/origin").CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return program, nil
})

func startOrigin(t testing.TB, args ...string) *origin {
	t.Helper()
	program, err := originProgram()
	require.NoError(t, err)
	database := "sqlite:" + filepath.Join(t.TempDir(), "addrspec.db")
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--database", database, "--edge-secret", secret,
		"--module", moduleFile(t), "--cache-dir", moduletest.CacheDir()}, args...)
	cmd := exec.Command(program, args...)
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout = writer
	o := &origin{process: startProcess(t, cmd)}
	writer.Close()
	o.hostPort = firstAddress(t, reader, o.said)
	o.ledger, err = ledger.Open(context.Background(), database)
	require.NoError(t, err)
	t.Cleanup(func() { o.ledger.Close() })
	return o
}

// firstAddress reads HOST:PORT behind "http://" in the first line.
func firstAddress(t testing.TB, from *os.File, said *output) string {
	t.Helper()
	line, err := bufio.NewReader(from).ReadString('\n')
	require.NoError(t, err, "the program ended: %s", said)
	_, hostPort, found := strings.Cut(strings.TrimSpace(line), "http://")
	require.True(t, found, line)
	_, _, err = net.SplitHostPort(hostPort)
	require.NoError(t, err)
	return hostPort
}

// moduleFile is the module, built from the current sources.
func moduleFile(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "addrspec.wasm")
	require.NoError(t, os.WriteFile(file, moduletest.Bytes(t), 0o600))
	return file
}

// account makes an account without limits, and a key of it.
func (o *origin) account(t testing.TB, email string) (key string) {
	t.Helper()
	unlimited := ledger.Limit(ledger.Unlimited)
	a, err := o.ledger.CreateAccount(context.Background(), email, ledger.Terms{Rate: &unlimited, Points: &unlimited})
	require.NoError(t, err)
	key, _, err = o.ledger.CreateKey(context.Background(), a.ID, "test", ledger.KeyTerms{})
	require.NoError(t, err)
	return key
}

// used is the number of points the account has paid this month.
func (o *origin) used(t testing.TB, email string) int64 {
	t.Helper()
	a, err := o.ledger.AccountByEmail(context.Background(), email)
	require.NoError(t, err)
	return a.Used
}

// found is the account's usage history, summed: points and what the checks found.
func (o *origin) found(t testing.TB, email string) (points int64, found ledger.Found) {
	t.Helper()
	a, err := o.ledger.AccountByEmail(context.Background(), email)
	require.NoError(t, err)
	today := ledger.DayOf(time.Now())
	days, err := o.ledger.UsageHistory(context.Background(), a.ID, today-1, today+1)
	require.NoError(t, err)
	for _, d := range days {
		points += d.Points
		found.Valid += d.Valid
		found.Invalid += d.Invalid
		found.Disposable += d.Disposable
		found.Public += d.Public
		found.Relay += d.Relay
		found.Role += d.Role
		found.Gibberish += d.Gibberish
		found.Typo += d.Typo
		found.LookupErrors += d.LookupErrors
	}
	return points, found
}

// output collects a program's output, which the test may read meanwhile.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
