package command

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/archive"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// newLedger creates a ledger with one account and rows of its audit log: about 0.3 MB a
// thousand.
func newLedger(t *testing.T, rows int) (database string) {
	database = origintest.NewDatabase(t)
	l := ledgertest.Open(t, database)
	ledgertest.NewAccount(t, l, testAccount)
	require.NoError(t, l.Close())
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(database, "sqlite:")+"?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < " + strconv.Itoa(rows) + `)
		INSERT INTO audit (account, at_ns, actor, action, subject) SELECT 1, i, 'owner', 'key.create', hex(randomblob(90)) FROM n`)
	require.NoError(t, err)
	return database
}

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
	database, old, directory := newLedger(t, 30_000), newLedger(t, 10), t.TempDir()
	want, before := exported(t, database), exported(t, old)
	whole, copied, place := directory+"/whole", directory+"/copy", directory+"/place"
	backup := []string{"backup", copied, "--force", "--database", database}
	restore := []string{"restore", whole, "--force", "--keep-sessions", "--database", "sqlite:" + place}
	run := func(args ...string) {
		_, problem, code := operator(t, args...)
		require.Zero(t, code, problem)
	}
	run("backup", copied, "--database", old)
	run("backup", place, "--database", old)
	began := time.Now()
	require.NoError(t, program("backup", whole, "--database", database).Run())
	took, finished, rounds := time.Since(began), 0, shorter(8, 3) // real time: spreads the kills; no moment is expected
	for i := range rounds {
		for file, args := range map[string][]string{copied: backup, place: restore} {
			cmd := program(args...)
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
	run(restore...)
	require.Equal(t, want, exported(t, "sqlite:"+place))
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

// A terminal shows how far a copy is: in percent, or in bytes if the whole is not known.
func TestProgressOfCopies(t *testing.T) {
	t.Parallel()
	terminal, other, err := pty.Open()
	require.NoError(t, err)
	defer terminal.Close()
	defer other.Close()
	screen, p := &screen{t: t, File: terminal}, showProgress(other, "backup")
	p.copied(1, 4)
	screen.waitFor("backup: 25 %")
	p.copied(0, 0)
	_, err = p.Write(make([]byte, 5000))
	require.NoError(t, err)
	screen.waitFor("backup: 5.0 kB")
	require.EqualError(t, p.end(context.Canceled), "interrupted; nothing was changed")
}
