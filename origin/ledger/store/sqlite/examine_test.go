package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

// contents returns the files of a directory by name. The index of a log (-shm) is left
// out: readers note in it how far they have read.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := map[string]string{}
	for _, file := range list {
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		require.NoError(t, err)
		info, err := file.Info()
		require.NoError(t, err)
		if strings.HasSuffix(file.Name(), "-shm") {
			text = nil
		}
		files[file.Name()] = info.Mode().String() + string(text)
	}
	return files
}

// examineReadOnly opens a file read-only, examines it, and requires that nothing in
// its directory has changed.
func examineReadOnly(t *testing.T, path string) store.Examination {
	t.Helper()
	before := contents(t, filepath.Dir(path))
	s, err := store.OpenReadOnly(t.Context(), "sqlite:"+path, nil)
	require.NoError(t, err)
	require.Contains(t, storetest.PlanNames(t, s), "free")
	e, err := store.Examine(t.Context(), s)
	require.NoError(t, err)
	require.Error(t, s.Transact(t.Context(), storetest.PutPlan("another")))
	require.NoError(t, s.Close())
	require.Equal(t, before, contents(t, filepath.Dir(path)))
	return e
}

// A ledger whose service has stopped, is running, has crashed, or that another
// program has switched to another journal.
func TestOpenReadOnlyLeavesTheDirectoryAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := store.Open(t.Context(), "sqlite:"+path, nil)
	require.NoError(t, err)
	require.Contains(t, examineReadOnly(t, path).Summary, "sound", "running")

	crashed := filepath.Join(t.TempDir(), "a.db")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		text, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(crashed+suffix, text, 0o600))
	}
	require.Contains(t, examineReadOnly(t, crashed).Summary, "sound", "crashed")

	require.NoError(t, s.Close())
	e := examineReadOnly(t, path)
	require.Contains(t, e.Summary, "sound", "stopped")
	require.Empty(t, e.Advice)

	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(DELETE)")
	require.NoError(t, err)
	require.NoError(t, db.Ping())
	require.NoError(t, db.Close())
	require.ErrorIs(t, examineReadOnly(t, path).Advice[0], errNoWAL)
}

// A service that starts while the file is read without locks: what was read is no
// evidence of damage.
func TestExamineWhileAServiceStarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := store.Open(t.Context(), "sqlite:"+path, nil)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	unlocked, err := store.OpenReadOnly(t.Context(), "sqlite:"+path, nil)
	require.NoError(t, err)
	defer unlocked.Close()
	s, err = store.Open(t.Context(), "sqlite:"+path, nil)
	require.NoError(t, err)
	defer s.Close()
	e, err := store.Examine(t.Context(), unlocked)
	require.NoError(t, err)
	require.Contains(t, e.Summary, "a service started meanwhile")
}

// What the operating system refuses is said with what to do. A file in place of a
// directory is refused to root, too.
func TestOpenSaysWhatToDoAboutAPath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, open := range []func() (store.Store, error){
		func() (store.Store, error) { return store.Open(t.Context(), "sqlite:"+file+"/a.db", nil) },
		func() (store.Store, error) { return store.OpenExisting(t.Context(), "sqlite:"+file+"/a.db", nil) },
	} {
		_, err := open()
		require.ErrorContains(t, err, "a part of the path is a file, not a directory")
		require.ErrorContains(t, err, file)
	}
	require.ErrorContains(t, explainFile(os.ErrPermission), "run this as the service's user")
}
