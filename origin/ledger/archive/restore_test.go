package archive

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
)

// backedUp returns a backup of the sample ledger.
func backedUp(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "backup.db")
	must(Backup(t.Context(), pathOf(imported(t)), path, false, nil))(t)
	return path
}

// A restored ledger has all rows of the backup but sessions, links and ceremonies. The backup
// may be on a medium that is read-only.
func TestRestore(t *testing.T) {
	backup, dir := backedUp(t), t.TempDir()
	require.NoError(t, os.Chmod(backup, 0o400))
	require.NoError(t, os.Chmod(filepath.Dir(backup), 0o500))
	defer os.Chmod(filepath.Dir(backup), 0o700)
	for _, keep := range []bool{false, true} {
		path := filepath.Join(dir, "new", fmt.Sprint(keep))
		r := must(Restore(t.Context(), backup, path, RestoreOptions{KeepSessions: keep}))(t)
		day := time.Unix(sampleDay*86400, 0).UTC()
		require.Equal(t, Restored{Summary: Summary{store.Version, 2, 2, day, []string{"0a0b0c0d"}}}, r)
		rows := maps.Clone(sampleRows)
		maps.DeleteFunc(rows, func(name string, _ []string) bool {
			return !keep && (name == "sessions" || name == "links" || name == "challenges")
		})
		require.Equal(t, rowsOf(string(encode(t, rows, sampleLast))), rowsOf(requireExport(t, "sqlite:"+path)))
		require.Equal(t, os.FileMode(0o600), must(os.Stat(path))(t).Mode())
	}
	require.Equal(t, []string{"backup.db"}, files(t, filepath.Dir(backup)))
}

// A database is replaced only with Force, and kept; what a killed server left beside
// it is not applied to the new file.
func TestRestoreOverADatabase(t *testing.T) {
	backup, url := backedUp(t), newSQLite(t)
	secret := newLedger(t, url)
	kill := ledgertest.StartWorker(t, url, secret, 1)
	_, err := Restore(t.Context(), backup, pathOf(url), RestoreOptions{Force: true})
	require.ErrorIs(t, err, errInUse)
	require.Len(t, files(t, filepath.Dir(pathOf(url))), 3, "the database, -wal and -shm")
	kill()
	require.FileExists(t, pathOf(url)+"-wal")

	_, err = Restore(t.Context(), backup, pathOf(url), RestoreOptions{})
	require.ErrorContains(t, err, "--force")
	_, err = Restore(t.Context(), backup, backup, RestoreOptions{Force: true})
	require.ErrorContains(t, err, "the database itself")
	_, err = Restore(t.Context(), backup, t.TempDir(), RestoreOptions{Force: true})
	require.ErrorContains(t, err, "it is not a file")
	r := must(Restore(t.Context(), backup, pathOf(url), RestoreOptions{Force: true, KeepSessions: true}))(t)
	require.ElementsMatch(t, []string{"ledger.db", filepath.Base(r.Kept)}, files(t, filepath.Dir(r.Kept)))
	require.Equal(t, rowsOf(string(sample(t))), rowsOf(requireExport(t, url)))
	require.Positive(t, requireAddsUp(t, "sqlite:"+r.Kept), "the old database has all its charges")
}

// A server that has its database open is noticed while it is idle, and also if the file is
// damaged or was removed under it. Of a file that is damaged or missing, what a server may
// use beside it has to be removed first.
func TestRestoreNoticesAnIdleServer(t *testing.T) {
	backup := backedUp(t)
	damage := func(path string) error {
		return os.WriteFile(path, []byte(strings.Repeat("damaged", 9999)), 0o600)
	}
	for name, harm := range map[string]func(string) error{"in order": nil, "damaged": damage, "removed": os.Remove} {
		t.Run(name, func(t *testing.T) {
			url := imported(t)
			kill := ledgertest.StartWorker(t, url, "", 1)
			if harm != nil {
				require.NoError(t, harm(pathOf(url)))
			}
			_, err := Restore(t.Context(), backup, pathOf(url), RestoreOptions{Force: true})
			require.ErrorIs(t, err, errInUse)
			kill()
			if harm != nil {
				_, err = Restore(t.Context(), backup, pathOf(url), RestoreOptions{Force: true})
				require.ErrorContains(t, err, "remove that file")
				for _, end := range besideDatabase {
					_ = os.Remove(pathOf(url) + end)
				}
			}
			r := must(Restore(t.Context(), backup, pathOf(url), RestoreOptions{Force: true, KeepSessions: true}))(t)
			require.Equal(t, name == "removed", r.Kept == "")
			require.Equal(t, rowsOf(string(sample(t))), rowsOf(requireExport(t, url)))
		})
	}
}
