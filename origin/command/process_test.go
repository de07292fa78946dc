package command

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// programVariable makes TestMain run Main instead of the tests. A test that needs
// the program in another process runs its own binary with it.
const programVariable = "ADDRSPEC_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		os.Unsetenv(programVariable)
		Main()
	}
	_ = flag.Set("test.parallel", "8") // most tests only wait; -parallel overrides it
	code := m.Run()
	pgtest.RemoveShared()
	os.Exit(code)
}

// hung is how long a test waits for an event. It is far longer than any machine needs.
const hung = 2 * time.Minute

// leftToCI skips a test in the fast layer.
func leftToCI(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
}

// A process is a service in a process of its own.
type process struct {
	*instance
	*origintest.Process
}

// launch starts the service with its log on stderr, or in s.log if stderr is nil.
func launch(t *testing.T, stderr *os.File, args ...string) *process {
	t.Helper()
	return launchWith(t, stderr, append([]string{"--dns", "127.0.0.1:1"}, args...)...)
}

// launchWith is launch with the resolvers that args name.
func launchWith(t *testing.T, stderr *os.File, args ...string) *process {
	t.Helper()
	s := &instance{database: origintest.NewDatabase(t), log: new(origintest.Log)}
	cmd := exec.Command(os.Args[0], origintest.ServeArgs(t, s.database, args...)...)
	cmd.Env = append(os.Environ(), programVariable+"=1")
	cmd.Stderr = s.log
	if stderr != nil {
		cmd.Stderr = stderr
	}
	p, err := origintest.Start(cmd, origintest.OnStdout)
	require.NoError(t, err, s.log)
	t.Cleanup(p.Kill)
	s.hostPort, err = origintest.AddressIn(p.FirstLine)
	require.NoError(t, err)
	return &process{s, p}
}

// unlimitedKey creates an account and a key with the commands.
func (s *instance) unlimitedKey(t *testing.T) (key string) {
	t.Helper()
	_, problem, code := operator(t, "account", "create", "--email", "a@example.org", "--plan", "enterprise", "--database", s.database)
	require.Zero(t, code, problem)
	out, problem, code := operator(t, "key", "create", "--account", "a@example.org", "--name", "test", "--database", s.database)
	require.Zero(t, code, problem)
	words := strings.Fields(out)
	return words[len(words)-1]
}

// requireServed sends requests from 16 clients at a time. Each is logged.
func (s *instance) requireServed(t *testing.T, key string, requests int) {
	t.Helper()
	var clients errgroup.Group
	clients.SetLimit(16)
	for range requests {
		clients.Go(func() error {
			status, body, err := s.get(key, "/v1/usage")
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("status %d: %s", status, body)
			}
			return err
		})
	}
	require.NoError(t, clients.Wait())
}

// shorter returns a size for the run with -short, and the whole one for
// ./build.sh test ci.
func shorter(whole, short int) int {
	if testing.Short() {
		return short
	}
	return whole
}
