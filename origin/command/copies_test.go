package command

import (
	"bytes"
	"database/sql"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/archive"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// ownProcess returns a command of the program in a process of its own.
func ownProcess(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), programVariable+"=1")
	return cmd
}

// grow adds rows of the audit log to an SQLite ledger with an account 1: about
// 0.3 MB a thousand.
func grow(t *testing.T, database string, rows int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(database, "sqlite:")+"?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < " + strconv.Itoa(rows) + `)
		INSERT INTO audit (account, at_ns, actor, action, subject) SELECT 1, i, 'owner', 'key.create', hex(randomblob(90)) FROM n`)
	require.NoError(t, err)
}

// newLedger creates a ledger with one account and rows of its audit log.
func newLedger(t *testing.T, rows int) (database string) {
	database = origintest.NewDatabase(t)
	l := ledgertest.Open(t, database)
	ledgertest.NewAccount(t, l, testAccount)
	require.NoError(t, l.Close())
	grow(t, database, rows)
	return database
}

// exported returns the export of a database.
func exported(t *testing.T, database string) string {
	t.Helper()
	var out bytes.Buffer
	_, err := archive.Export(t.Context(), database, &out)
	require.NoError(t, err)
	return out.String()
}

// A backup and a restore that are killed at any moment leave the file of before or
// the whole new one.
func TestKilledBackupAndRestore(t *testing.T) {
	t.Parallel()
	database, old := newLedger(t, 30_000), newLedger(t, 10)
	want, before := exported(t, database), exported(t, old)
	directory := t.TempDir()
	copied, place := filepath.Join(directory, "copy.db"), filepath.Join(directory, "place.db")
	for _, file := range []string{copied, place} {
		_, problem, code := operator(t, "backup", file, "--database", old)
		require.Zero(t, code, problem)
	}
	whole := filepath.Join(t.TempDir(), "whole.db")
	_, problem, code := operator(t, "backup", whole, "--database", database)
	require.Zero(t, code, problem)
	began := time.Now()
	require.NoError(t, ownProcess("backup", filepath.Join(t.TempDir(), "timed.db"), "--database", database).Run())
	took, finished := time.Since(began), 0 // real time: spreads the kills; no moment is expected
	rounds := shorter(8, 3)
	for i := range rounds {
		for file, args := range map[string][]string{copied: {"backup", copied, "--force", "--database", database}, place: {"restore", whole, "--force", "--keep-sessions", "--database", "sqlite:" + place}} {
			cmd := ownProcess(args...)
			require.NoError(t, cmd.Start())
			time.Sleep(took * time.Duration(i+1) / time.Duration(rounds)) // real time: a kill at any moment
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			got := exported(t, "sqlite:"+file)
			require.True(t, got == want || got == before, "%s is neither the old file nor the new one", file)
			if got == want {
				finished++
			}
		}
	}
	t.Logf("%d of %d files were the new one", finished, 2*rounds)
	out, err := ownProcess("restore", whole, "--force", "--keep-sessions", "--database", "sqlite:"+place).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, want, exported(t, "sqlite:"+place))
}

// An import that is killed leaves no row, and can be repeated.
func TestKilledImport(t *testing.T) {
	t.Parallel()
	pgtest.EachDatabase(t, func(t *testing.T, database string) {
		whole := exported(t, newLedger(t, 20_000))
		for _, part := range []int{len(whole) / 3, len(whole) * 2 / 3, len(whole) - 1} {
			cmd := ownProcess("import", "-", "--database", database)
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			_, err = io.WriteString(in, whole[:part]) // returns once the process has read nearly all
			require.NoError(t, err)
			require.NoError(t, cmd.Process.Kill())
			require.ErrorContains(t, cmd.Wait(), "killed")
			require.Contains(t, exported(t, database), `"rows":{"accounts":0,`)
		}
		out, err := ownProcess("import", "-", "--database", database).CombinedOutput()
		require.ErrorContains(t, err, "exit status 1", "an empty input")
		require.Contains(t, string(out), "line 1: the file ends here")
		cmd := ownProcess("import", "-", "--database", database)
		cmd.Stdin = strings.NewReader(whole)
		out, err = cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, whole, exported(t, database))
	})
}

func TestCopyCommandErrors(t *testing.T) {
	t.Parallel()
	database, directory := newLedger(t, 0), t.TempDir()
	for _, c := range []struct {
		args    string
		code    int
		message string
	}{
		{"backup x.db --database postgres://u:s3cret@h/n?sslmode=require", 2, "pg_dump --format=custom --file=FILE 'postgres://u@h/n'"},
		{"restore x.db --database postgres://u:s3cret@h/n", 2, "pg_restore --clean --if-exists --no-owner --dbname='postgres://u@h/n' FILE"},
		{"backup x.db --database data/addrspec.db", 2, "sqlite:PATH"},
		{"export DIRECTORY/x --database data/addrspec.db", 1, "sqlite:PATH"},
		{"backup - --database DB", 1, "give the name of a file"},
		{"backup DIRECTORY/x --database sqlite:DIRECTORY/none.db", 1, "no such file"},
		{"export DIRECTORY/x --database sqlite:DIRECTORY/none.db", 1, "there is no ledger"},
		{"restore DIRECTORY/none --database DB --force", 1, "no such file"},
		{"import DIRECTORY/none --database DB", 1, "no such file"},
		{"backup", 2, "<file>"},
	} {
		args := strings.Fields(strings.NewReplacer("DIRECTORY", directory, "DB", database).Replace(c.args))
		_, err, code := operator(t, args...)
		require.Equal(t, c.code, code, "%s: %s", c.args, err)
		require.Contains(t, err, c.message, c.args)
		require.NotContains(t, err, "s3cret")
	}
	left, err := os.ReadDir(directory)
	require.NoError(t, err)
	require.Empty(t, left, "these commands create nothing")
}
