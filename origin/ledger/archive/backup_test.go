package archive

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// files lists the names in a directory.
func files(t testing.TB, dir string) (names []string) {
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range list {
		names = append(names, f.Name())
	}
	return names
}

// A backup and an export of a ledger that another process charges are one moment of it.
func TestCopiesUnderLoad(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		path, isFile := strings.CutPrefix(url, "sqlite:")
		secret, points, copied := newLedger(t, url), 0, filepath.Join(t.TempDir(), "copy.db")
		if isFile {
			grow(t, url, 5_000)
		}
		kill := startWorker(t, url, secret)
		for range 5 {
			to := newSQLite(t)
			requireImport(t, to, []byte(requireExport(t, url)))
			now := requireAddsUp(t, to)
			require.GreaterOrEqual(t, now, points)
			points = now
			if isFile {
				s, err := Backup(t.Context(), path, copied, true, nil)
				require.NoError(t, err)
				require.Equal(t, 1, s.Accounts)
				points = requireAddsUp(t, "sqlite:"+copied)
				require.GreaterOrEqual(t, points, now)
				require.Equal(t, []string{"copy.db"}, files(t, filepath.Dir(copied)))
				info, err := os.Stat(copied)
				require.NoError(t, err)
				require.Equal(t, os.FileMode(0o600), info.Mode())
			}
		}
		kill()
		require.Greater(t, points, 1, "the writer went on")
		require.GreaterOrEqual(t, requireAddsUp(t, url), points)
	})
}

func TestBackupRefusals(t *testing.T) {
	url, dir := imported(t), t.TempDir()
	path, text, taken := pathOf(url), filepath.Join(dir, "text"), filepath.Join(dir, "taken")
	for _, name := range []string{text, taken} {
		require.NoError(t, os.WriteFile(name, bytes.Repeat([]byte("not a database\n"), 99), 0o644))
	}
	newer, older, other, damaged := pathOf(imported(t)), pathOf(imported(t)), filepath.Join(dir, "other.db"), pathOf(imported(t))
	query(t, "sqlite:"+newer, "PRAGMA user_version = 99")
	query(t, "sqlite:"+older, "PRAGMA user_version = 4")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	query(t, "sqlite:"+other, "CREATE TABLE accounts (id INTEGER)")
	query(t, "sqlite:"+damaged, "PRAGMA foreign_keys = 0; DELETE FROM accounts WHERE id = 2")
	inUse := pathOf(imported(t))
	startWorker(t, "sqlite:"+inUse, "")
	for name, c := range map[string]struct {
		from, to string
		force    bool
		want     string
	}{
		"missing":                  {filepath.Join(dir, "none.db"), filepath.Join(dir, "x"), false, "no such file"},
		"a directory":              {dir, filepath.Join(dir, "x"), false, "it is a directory"},
		"not a database":           {text, filepath.Join(dir, "x"), false, "not a database"},
		"another database":         {other, filepath.Join(dir, "x"), false, store.ErrNoLedger.Error()},
		"a newer ledger":           {newer, filepath.Join(dir, "x"), false, "use a newer addrspec"},
		"a damaged ledger":         {damaged, filepath.Join(dir, "x"), false, errCorrupt.Error()},
		"the place is taken":       {path, taken, false, "--force"},
		"onto itself":              {path, path, true, "the database itself"},
		"onto a database":          {path, inUse, true, "a database that is in use"},
		"onto a directory":         {path, dir, true, "is a directory"},
		"no such directory":        {path, filepath.Join(dir, "a", "b"), false, "no such file or directory"},
		"standard output":          {path, "-", false, "give the name of a file"},
		"no name":                  {path, "", false, "give the name of a file"},
		"itself, by a longer path": {path, filepath.Join(filepath.Dir(path), ".", "ledger.db"), true, "the database itself"},
	} {
		_, err := Backup(t.Context(), c.from, c.to, c.force, nil)
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "@example.org", name)
	}
	require.ElementsMatch(t, []string{"text", "taken", "other.db"}, files(t, dir), "nothing half remains")
	_, err := Backup(t.Context(), older, filepath.Join(dir, "older.db"), false, nil)
	require.NoError(t, err, "a ledger that is to be migrated can be backed up before")
}

// A backup that is cancelled leaves what was at its place.
func TestCancelledBackup(t *testing.T) {
	url, to := newSQLite(t), filepath.Join(t.TempDir(), "copy.db")
	newLedger(t, url)
	grow(t, url, 200_000)
	require.NoError(t, os.WriteFile(to, []byte("the last backup"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for ctx.Err() == nil { // until the copy has begun
			if left, _ := filepath.Glob(to + part + "*"); len(left) > 0 {
				return
			}
		}
	}()
	_, err := Backup(ctx, pathOf(url), to, true, func(done, all int64) { require.LessOrEqual(t, done, all) })
	require.Equal(t, []string{"copy.db"}, files(t, filepath.Dir(to)))
	if err == nil {
		t.Skip("the copy ended before it was cancelled")
	}
	require.ErrorIs(t, err, context.Canceled)
	text, err := os.ReadFile(to)
	require.NoError(t, err)
	require.Equal(t, "the last backup", string(text))
}
