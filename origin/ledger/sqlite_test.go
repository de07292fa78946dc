package ledger

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	newer := filepath.Join(dir, "newer.db")
	l := open(t, "sqlite:"+newer)
	_, err := l.store.(*sqlite).conn.ExecContext(t.Context(), "PRAGMA user_version = 999")
	require.NoError(t, err)

	for name, c := range map[string]struct{ url, says string }{
		"empty":          {"", "sqlite:PATH"},
		"a bare path":    {"data/x.db", "sqlite:PATH"},
		"unknown scheme": {"mysql://localhost/x", "sqlite:PATH"},
		"no path":        {"sqlite:", "give the path of a file"},
		"as with a host": {"sqlite://data/x.db", "give the path of a file"},
		"in memory":      {"sqlite::memory:", "give the path of a file"},
		"a folder":       {"sqlite:" + dir, "is a directory"},
		"below a file":   {"sqlite:" + file("plain", "x") + "/x.db", "not a directory"},
		"no database":    {"sqlite:" + file("text.db", "dear diary, this is no database, it is text. really, it is."), "not an SQLite database"},
		"newer schema":   {"sqlite:" + newer, "version 999, this program knows up to 2: use a newer addrspec"},
		"not writable":   {"sqlite:/proc/addrspec/x.db", "no such file or directory"},
	} {
		_, err := Open(t.Context(), c.url)
		require.ErrorContains(t, err, c.says, name)
	}
}

func TestSQLiteFilesAreTheOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "odd name?#%41.db")
	b := begin(t, "sqlite:"+path, plenty)
	b.ask(1)
	for name, mode := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode(), name)
	}
}

// SQLite does not wait while another process turns a new file to WAL mode, so
// Open must. One file in a few shows it.
func TestSQLiteOpenedAtOnce(t *testing.T) {
	for range 8 {
		url := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
		together(8, func(int) {
			l, err := Open(t.Context(), url)
			if err == nil {
				err = l.Close()
			}
			require.NoError(t, err)
		})
	}
}

// The promise of durability rests on these.
func TestSQLitePragmas(t *testing.T) {
	s := open(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db")).store.(*sqlite)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000"} {
		var got string
		require.NoError(t, s.conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got))
		require.Equal(t, want, got, pragma)
	}
}

// A database that takes no writes: the request is refused, nobody is charged,
// and what was under way is given back when it takes them again.
func TestSQLiteThatCannotBeWritten(t *testing.T) {
	b := begin(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), plenty)
	under := b.ask(10)
	b.setReadOnly("1")

	_, err := b.Admit(b.ctx, Request{Key: b.secret, Points: 1})
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "the file cannot be written")
	_, err = b.Settle(b.ctx, under, Settlement{Refund: 3})
	require.ErrorIs(t, err, ErrUnavailable)
	require.EqualValues(t, 10, b.used())
	require.Equal(t, 1, b.Stats().OwedCharges)

	b.setReadOnly("0")
	b.rest()
	require.Zero(t, b.used(), "its caller was told that it failed, so all of it is given back")
	require.Equal(t, Tally{Requests: 1, Errors: 1}, b.history())
	require.EqualValues(t, 1, b.ask(1).Usage.Current)
}

// Close gives back what it can, and says what it could not.
func TestCloseTellsWhatIsOwed(t *testing.T) {
	l, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	require.NoError(t, err)
	b := &bench{T: t, Ledger: l, ctx: t.Context()}
	a, err := l.CreateAccount(b.ctx, "owner@example.com", plenty)
	require.NoError(t, err)
	b.secret, _, err = l.CreateKey(b.ctx, a.ID, "test")
	require.NoError(t, err)
	admitted := b.ask(1)
	b.setReadOnly("1")
	_, err = l.Settle(b.ctx, admitted, Settlement{Failed: true})
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, l.Close(), "1 charges could not be given back")
	require.NoError(t, l.Close(), "once closed it is closed")
	_, err = l.Admit(b.ctx, Request{Key: b.secret, Points: 1})
	require.ErrorIs(t, err, ErrClosed)
}

func (b *bench) setReadOnly(on string) {
	b.Helper()
	s := b.store.(*sqlite)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.conn.ExecContext(b.ctx, "PRAGMA query_only = "+on)
	require.NoError(b, err)
}

// Callers who give up while another process holds the database are not charged.
func TestAdmitGivesUpWithItsCaller(t *testing.T) {
	b := begin(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), plenty)
	s := b.store.(*sqlite)
	s.mu.Lock() // the writer can take requests up, but not begin
	var gaveUp atomic.Int64
	together(20, func(int) {
		ctx, cancel := context.WithTimeout(b.ctx, 20*time.Millisecond)
		defer cancel()
		_, err := b.Admit(ctx, Request{Key: b.secret, Points: 1})
		require.ErrorIs(b, err, context.DeadlineExceeded)
		gaveUp.Add(1)
	})
	require.EqualValues(t, 20, gaveUp.Load())
	s.mu.Unlock()
	b.rest()
	require.Zero(t, b.used())
	require.Zero(t, b.history().Points)
}

// Close commits what waits.
func TestCloseDrains(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	b := begin(t, url, plenty)
	var told atomic.Int64
	together(16, func(int) {
		for {
			a, err := b.Admit(b.ctx, Request{Key: b.secret, Points: 1})
			if err != nil {
				require.ErrorIs(b, err, ErrClosed)
				return
			}
			require.Equal(b, Admitted, a.Verdict)
			if told.Add(1) == 50 {
				go b.Close()
			}
		}
	})
	again := &bench{T: t, Ledger: open(t, url, WithClock(b.clock.Now)), ctx: b.ctx, account: b.account}
	require.Equal(t, told.Load(), again.used())
}
