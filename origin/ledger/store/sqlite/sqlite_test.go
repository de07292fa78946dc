package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

func TestOpenSQLiteErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for name, c := range map[string]struct{ url, want string }{
		"empty":          {"", "sqlite:PATH"},
		"a bare path":    {"data/x.db", "sqlite:PATH"},
		"unknown scheme": {"mysql://localhost/x", "sqlite:PATH"},
		"no driver":      {"postgres://localhost/x", "this program has the drivers [sqlite]"},
		"no path":        {"sqlite:", "give the path of a file"},
		"like a host":    {"sqlite://data/x.db", "give the path of a file"},
		"in memory":      {"sqlite::memory:", "give the path of a file"},
		"a directory":    {"sqlite:" + dir, "it is a directory"},
		"below a file":   {"sqlite:" + file("plain", "x") + "/x.db", "not a directory"},
		"not a database": {"sqlite:" + file("text.db", strings.Repeat("plain text, longer than a header\n", 9)), "not an SQLite database"},
		"not writable":   {"sqlite:/proc/addrspec/x.db", "no such file or directory"},
	} {
		_, err := store.Open(t.Context(), c.url, nil)
		require.ErrorContains(t, err, c.want, name)
	}
	require.ErrorContains(t, explain(os.ErrPermission), "run this as the service's user")
	require.ErrorContains(t, explain(syscall.EROFS), "mount it for writing")
}

func TestSQLiteFileModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "odd name?#%41.db")
	require.NoError(t, storetest.Open(t, "sqlite:"+path).Transact(t.Context(), storetest.PutPlan("x")))
	for name, mode := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode(), name)
	}
}

// Opening an existing ledger and examining it leaves the file as it is, whatever its journal,
// and nothing beside it.
func TestExamineChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	examine := func(s store.Store) store.Examination {
		e, err := s.Examine(t.Context())
		require.NoError(t, err)
		require.Contains(t, e.Summary, "sound")
		return e
	}
	s, err := store.Open(t.Context(), "sqlite:"+path, nil)
	require.NoError(t, err)
	require.Empty(t, examine(s).Advice)
	require.NoError(t, s.Close())
	for journal, advice := range map[string]int{"WAL": 0, "DELETE": 1} {
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode("+journal+")")
		require.NoError(t, err)
		require.NoError(t, db.Ping())
		require.NoError(t, db.Close())
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		s, err := store.OpenExisting(t.Context(), "sqlite:"+path, nil)
		require.NoError(t, err)
		require.Len(t, examine(s).Advice, advice)
		require.NoError(t, s.Close())
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after)
		files, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		require.Len(t, files, 1)
	}
}

func TestExamineFindsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := store.Open(t.Context(), "sqlite:"+path, nil)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for n := 8192; n < 16384; n++ {
		text[n] ^= 0x5a
	}
	require.NoError(t, os.WriteFile(path, text, 0o600))
	s, err = store.OpenExisting(t.Context(), "sqlite:"+path, nil)
	require.NoError(t, err)
	defer s.Close()
	e, err := s.Examine(t.Context())
	require.NoError(t, err)
	require.ErrorContains(t, e.Wrong[0], "restore it from a backup")
}

// Durability depends on these settings, however the file was opened.
func TestSQLitePragmas(t *testing.T) {
	path := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	created := storetest.Open(t, path)
	existing, err := store.OpenExisting(t.Context(), path, nil)
	require.NoError(t, err)
	defer existing.Close()
	for _, s := range []store.Store{created, existing} {
		for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "0"} {
			var got string
			require.NoError(t, s.(*sqlite).conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got))
			require.Equal(t, want, got, pragma)
		}
	}
}

// Two processes that write continuously take turns: neither starves. A busy machine may delay a turn for
// longer than a transaction waits.
func TestSQLiteWritersTakeTurns(t *testing.T) {
	const enough = 100
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	var done [2]atomic.Int64
	var all sync.WaitGroup
	for n := range done {
		s := storetest.Open(t, url)
		all.Go(func() {
			for done[0].Load() < enough || done[1].Load() < enough {
				err := s.Transact(ctx, storetest.PutPlan("x"))
				if errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil {
					continue
				}
				require.NoError(t, err)
				done[n].Add(1)
			}
		})
	}
	all.Wait()
}

// Closing while transactions run crashes nothing: each commits, or returns an error.
func TestCloseDuringTransactions(t *testing.T) {
	reading := storetest.PutPlan("mark")
	reading.Reads = func() []store.Statement {
		return []store.Statement{{Name: "list_plans", Scan: func(store.Row) error { return nil }}}
	}
	for range 20 {
		s, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"), nil)
		require.NoError(t, err)
		var writers sync.WaitGroup
		begun := make(chan bool, 4)
		for range cap(begun) {
			writers.Go(func() {
				for s.Transact(t.Context(), reading) == nil {
					select {
					case begun <- true:
					default:
					}
				}
			})
		}
		<-begun
		require.NoError(t, s.Close())
		writers.Wait()
	}
}
