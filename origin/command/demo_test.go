package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/service"
)

// banner starts the service in a process, and returns what it prints until last
// appears, or until it ends.
func banner(t *testing.T, database, last string, args ...string) (out string, code int) {
	t.Helper()
	var stdout, log origintest.Log
	cmd := program(origintest.ServeArgs(t, database, append([]string{"--dns", "127.0.0.1:1"}, args...)...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &log
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	require.Eventually(t, func() bool {
		select {
		case <-ended:
			return true
		default:
			return stdout.Contains(last)
		}
	}, hung, 10*time.Millisecond, "%s%s", stdout.String(), log.String())
	_ = cmd.Process.Signal(os.Interrupt)
	<-ended
	return stdout.String() + log.String(), cmd.ProcessState.ExitCode()
}

// Without --demo an empty ledger gets the two commands to begin, which work as they
// are printed; with accounts it gets neither.
func TestStartOfAnEmptyLedger(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "odd name", "a.db")
	out, code := banner(t, database, "key create")
	require.Zero(t, code, out)
	require.Contains(t, out, "There is no account yet.")
	commands := regexp.MustCompile(`(?m)^  \S+ ((?:account|key) create .*)$`).FindAllStringSubmatch(out, -1)
	require.Len(t, commands, 2)
	for _, command := range commands {
		require.Contains(t, command[1], "'"+database+"'", "quoted for a shell")
		args := strings.Fields(strings.ReplaceAll(command[1], "'"+database+"'", "DATABASE"))
		args[len(args)-1] = database
		_, problem, code := operator(t, args...)
		require.Zero(t, code, problem)
	}
	out, code = banner(t, database, "listens on")
	require.Zero(t, code, out)
	require.NotContains(t, out, "There is no account yet.")

	out, code = banner(t, database, "never", "--demo")
	require.Equal(t, 1, code)
	require.Contains(t, out, "--demo needs an empty ledger")
}

// The first start of a demo prints a key, its limits and a link; the second says
// how to get another key, and the account's limits are those printed.
func TestStartOfADemo(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	out, code := banner(t, database, "/link/", "--demo")
	require.Zero(t, code, out)
	require.Contains(t, out, "(50 requests/s, 100,000 points a month)")
	require.Regexp(t, `X-API-Key: ask_[0-9A-Za-z]{38}'`, out)
	l, err := ledger.Open(t.Context(), database, ledger.Existing())
	require.NoError(t, err)
	a, err := l.AccountByEmail(t.Context(), demoEmail)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.EqualValues(t, 50, a.Rate)
	require.EqualValues(t, 100_000, a.Points)
	require.False(t, a.Overage)

	out, code = banner(t, database, "/link/", "--demo")
	require.Zero(t, code, out)
	require.Contains(t, out, "key create --account "+demoEmail)
	require.NotContains(t, out, "ask_")
}

// A start that compiles the module says so while it does, and one that takes it
// from the cache does not.
func TestStartSaysThatItCompiles(t *testing.T) {
	t.Parallel()
	cache, database := t.TempDir(), "sqlite:"+filepath.Join(t.TempDir(), "a.db")
	out, code := banner(t, database, "listens on", "--cache-dir", cache)
	require.Zero(t, code, out)
	require.Contains(t, out, "compiling the module for this machine")
	require.Contains(t, out, "compiled the module")
}

// A URL with a password or parameters is not printed: a command with it redacted
// would not work.
func TestDatabaseForAShell(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"sqlite:data/it's.db":                       `'sqlite:data/it'\''s.db'`,
		"postgres://u@db.example/x":                 "postgres://u@db.example/x",
		"postgres://u:hidden@db.example/x":          `"$ADDRSPEC_DATABASE"`,
		"postgres://u@db.example/x?password=hidden": `"$ADDRSPEC_DATABASE"`,
	} {
		require.Equal(t, want, forShell(&service.DatabaseFlag{Database: url}))
	}
}
