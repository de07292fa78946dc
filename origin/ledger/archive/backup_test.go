package archive

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// files lists the names in a directory.
func files(t testing.TB, dir string) (names []string) {
	list := must(os.ReadDir(dir))(t)
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
			require.Zero(t, LastBackup(path))
			grow(t, url, 5_000)
		}
		kill := ledgertest.StartWorker(t, url, secret, 1)
		for range 5 {
			to := newSQLite(t)
			requireImport(t, to, []byte(requireExport(t, url)))
			now := requireAddsUp(t, to)
			require.GreaterOrEqual(t, now, points)
			points = now
			if isFile {
				require.Equal(t, 1, must(Backup(t.Context(), path, copied, true, nil))(t).Accounts)
				points = requireAddsUp(t, "sqlite:"+copied)
				require.GreaterOrEqual(t, points, now)
				require.Equal(t, []string{"copy.db"}, files(t, filepath.Dir(copied)))
				info := must(os.Stat(copied))(t)
				require.Equal(t, os.FileMode(0o600), info.Mode())
				require.False(t, LastBackup(path).Before(info.ModTime().Truncate(time.Second)))
			}
		}
		kill()
		require.Greater(t, points, 1, "the writer went on")
		require.GreaterOrEqual(t, requireAddsUp(t, url), points)
	})
}

// Restore refuses the same files.
func TestBackupRefusals(t *testing.T) {
	path, inUse, dir := pathOf(imported(t)), imported(t), t.TempDir()
	ledgertest.StartWorker(t, inUse, "", 1)
	inUse = pathOf(inUse)
	place := func(name string) string { return filepath.Join(dir, name) }
	whole := must(os.ReadFile(path))(t)
	middle := bytes.Clone(whole)
	copy(middle[8192:], bytes.Repeat([]byte{0xa5}, 4096)) // one page
	for name, content := range map[string][]byte{"text": bytes.Repeat([]byte("not a database\n"), 99), "other": nil,
		"truncated": whole[:len(whole)-8192], "cut": whole[:len(whole)-100], "checks": whole, "tables": whole, "flipped": middle, "newer": whole, "older": whole, "orphans": whole} {
		require.NoError(t, os.WriteFile(place(name), content, 0o600))
	}
	query(t, "sqlite:"+place("newer"), "PRAGMA user_version = 99")
	query(t, "sqlite:"+place("older"), "PRAGMA user_version = 4")
	query(t, "sqlite:"+place("other"), "CREATE TABLE accounts (id INTEGER)")
	query(t, "sqlite:"+place("orphans"), "PRAGMA foreign_keys = 0; DELETE FROM accounts WHERE id = 2")
	query(t, "sqlite:"+place("checks"), "PRAGMA ignore_check_constraints = 1; UPDATE accounts SET used = -5")
	query(t, "sqlite:"+place("tables"), "DROP TABLE secrets")
	before := files(t, dir)
	for name, c := range map[string]struct {
		from, to string
		force    bool
		want     string
	}{
		"missing":                  {place("none"), place("x"), false, "no such file"},
		"a directory":              {dir, place("x"), false, "it is a directory"},
		"not a database":           {place("text"), place("x"), false, "not a database"},
		"another database":         {place("other"), place("x"), false, store.ErrNoLedger.Error()},
		"a newer ledger":           {place("newer"), place("x"), false, "use a newer addrspec"},
		"truncated":                {place("truncated"), place("x"), false, "the file is damaged"},
		"an end cut off":           {place("cut"), place("x"), false, "its end is missing"},
		"a value out of bounds":    {place("checks"), place("x"), false, "CHECK constraint failed in accounts"},
		"without a table":          {place("tables"), place("x"), false, "no such table: secrets"},
		"a page wrong":             {place("flipped"), place("x"), false, errCorrupt.Error()},
		"rows without an account":  {place("orphans"), place("x"), false, errCorrupt.Error()},
		"the place is taken":       {path, place("text"), false, "--force"},
		"onto itself":              {path, path, true, "the database itself"},
		"onto a database":          {path, inUse, true, "a database that is in use"},
		"onto a directory":         {path, dir, true, "is a directory"},
		"no such directory":        {path, filepath.Join(dir, "a", "b"), false, "no such file or directory"},
		"standard output":          {path, "-", false, "give the name of a file"},
		"no name":                  {path, "", false, "give the name of a file"},
		"itself, by a longer path": {path, filepath.Dir(path) + "/./ledger.db", true, "the database itself"},
	} {
		_, err := Backup(t.Context(), c.from, c.to, c.force, nil)
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "@example.org", name)
	}
	require.Equal(t, before, files(t, dir), "nothing half remains")
	_, err := Backup(t.Context(), place("older"), place("x"), false, nil)
	require.NoError(t, err, "a ledger that is to be migrated can be backed up before")
}

// The service's user may write beside the ledger. Root, who makes the backup, follows no link from there.
func TestNoteOfABackupFollowsNoLink(t *testing.T) {
	path := pathOf(imported(t))
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, []byte("kept"), 0o600))
	require.NoError(t, os.Symlink(other, stamp(path)))
	_, err := Backup(t.Context(), path, filepath.Join(t.TempDir(), "copy.db"), false, nil)
	require.NoError(t, err)
	require.Equal(t, "kept", string(must(os.ReadFile(other))(t)))
	require.True(t, must(os.Lstat(stamp(path)))(t).Mode().IsRegular())
}

// A backup that is cancelled leaves what was at its place.
func TestCancelledBackup(t *testing.T) {
	url, to := newSQLite(t), filepath.Join(t.TempDir(), "copy.db")
	newLedger(t, url)
	grow(t, url, 300_000)
	require.NoError(t, os.WriteFile(to, []byte("the last backup"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := Backup(ctx, pathOf(url), to, true, func(done, all int64) {
		assert.LessOrEqual(t, done, all)
		cancel()
	})
	require.Equal(t, []string{"copy.db"}, files(t, filepath.Dir(to)))
	if err == nil {
		t.Skip("the copy ended before it was cancelled")
	}
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "the last backup", string(must(os.ReadFile(to))(t)))
}
