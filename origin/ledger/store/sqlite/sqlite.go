// Package sqlite is the driver of the store for SQLite databases. A program imports
// it to open URLs that begin with "sqlite:".
//
// A transaction acquires the write lock of the file before it reads.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

func init() {
	store.Register("sqlite", func(ctx context.Context, url string, clock func() time.Time, a store.Access) (store.Store, error) {
		return openSQLite(ctx, strings.TrimPrefix(url, "sqlite:"), clock, a)
	})
}

// files are the queries and the migrations.
//
//go:embed *.sql
var files embed.FS

// sqlite is a database in one file. One connection writes. Its transactions
// acquire the write lock when they begin, so that the rows they read cannot
// change; other connections read concurrently.
type sqlite struct {
	mu       sync.Mutex // locked during a transaction on conn
	conn     *sql.Conn
	queries  map[string]string
	prepared map[string]*sql.Stmt // on conn, by query

	write, read *sql.DB
	reads       sync.Map // *sql.Stmt of Query, by query: at most those of the catalogue
	clock       func() time.Time
	path        string
	unlocked    bool // opened as a file that does not change, see readOnlyDSN
}

// pragmas are in the DSN, so every connection has them. FULL makes a commit wait
// for the disk, once in WAL mode. NORMAL would lose the last charges if the power
// fails. FAST overwrites what is deleted from a page that is written anyway, so that a
// secret that was sealed is not in the page's free space.
var pragmas = fmt.Sprintf("?_pragma=busy_timeout(%d)&", busyTimeout.Milliseconds()) +
	"_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=secure_delete(FAST)"

// busyTimeout bounds the wait for another process that writes.
const busyTimeout = 5 * time.Second

// maxReaders bounds the connections of Query.
const maxReaders = 4

func openSQLite(ctx context.Context, path string, clock func() time.Time, a store.Access) (store.Store, error) {
	if clock == nil {
		clock = time.Now
	}
	s := &sqlite{queries: store.Catalogue(files), prepared: map[string]*sql.Stmt{}, clock: clock, path: path}
	if err := s.open(ctx, path, a); err != nil {
		return nil, fmt.Errorf("database %q: %w", path, errors.Join(err, s.Close()))
	}
	return s, nil
}

func (s *sqlite) open(ctx context.Context, path string, a store.Access) error {
	prepare, require, dsn := createFile, s.migrate, fileDSN(path)+pragmas
	if a != store.Create {
		prepare, require = requireFile, s.requireCurrent
	}
	err := prepare(path)
	if err != nil {
		return explainFile(err)
	}
	if a == store.ReadOnly {
		dsn = s.readOnlyDSN()
	}
	if s.write, err = sql.Open("sqlite", dsn); err != nil {
		return err
	}
	if s.read, err = sql.Open("sqlite", dsn+"&_pragma=query_only(1)"); err != nil {
		return err
	}
	s.read.SetMaxOpenConns(maxReaders)
	if s.conn, err = s.connect(ctx); err != nil {
		return explainSQLite(err)
	}
	if _, err = s.conn.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil { // see begin
		return err
	}
	return explainSQLite(require(ctx))
}

func fileDSN(path string) string { return "file:" + (&url.URL{Path: path}).EscapedPath() }

// connect retries while another process switches a new file to WAL mode: SQLite's
// busy timeout does not cover that.
func (s *sqlite) connect(ctx context.Context) (*sql.Conn, error) {
	for deadline := time.Now().Add(busyTimeout); ; time.Sleep(busyTimeout / 500) {
		conn, err := s.write.Conn(ctx)
		if !isBusy(err) || time.Now().After(deadline) || ctx.Err() != nil {
			return conn, err
		}
	}
}

// requireCurrent returns an error unless the schema is this program's.
func (s *sqlite) requireCurrent(ctx context.Context) error {
	var version int
	if err := s.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	return store.RequireCurrent(files, version)
}

// createFile creates the file and its directory, unless they exist. Only their owner
// has access, because the ledger contains email addresses of customers.
func createFile(path string) error {
	hostLike := strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "///")
	if path == "" || strings.HasPrefix(path, ":") || hostLike {
		return errors.New("give the path of a file, as in sqlite:data/addrspec.db")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return errDirectory
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// migrate reads the schema version under the write lock. If several processes
// start at once, the first migrates and the others find nothing to do.
func (s *sqlite) migrate(ctx context.Context) error {
	return s.exclusive(ctx, func() error {
		var version int
		if err := s.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		steps, err := store.Migration(files, version)
		if err != nil {
			return err
		}
		if steps == "" {
			return errUnchanged
		}
		_, err = s.conn.ExecContext(ctx, fmt.Sprintf("%s PRAGMA user_version = %d", steps, store.Version))
		return err
	})
}

// Now returns the time of the clock that transactions use.
func (s *sqlite) Now(context.Context) (time.Time, error) { return s.clock(), nil }

// Close closes the connections. The last one to close moves the write-ahead log
// into the database file.
func (s *sqlite) Close() error {
	s.mu.Lock() // a prepared statement that is closed within its transaction crashes SQLite
	defer s.mu.Unlock()
	var errs []error
	s.reads.Range(func(_, ready any) bool {
		errs = append(errs, ready.(*sql.Stmt).Close())
		return true
	})
	for _, ready := range s.prepared {
		errs = append(errs, ready.Close())
	}
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// readOnlyDSN returns the name of the database for connections that write nothing.
//
// With a write-ahead log a service is running, or has crashed: such a connection
// reads the log and leaves it (sqlite.org/wal.html, "Read-only databases"). Without
// one it would make the log and its index and leave them behind, so the file is
// opened as one that does not change ("immutable" in sqlite.org/c3ref/open.html):
// without locks. unlocked records that, see startedMeanwhile.
func (s *sqlite) readOnlyDSN() string {
	s.unlocked = !s.hasLog()
	if s.unlocked {
		return fileDSN(s.path) + "?immutable=1"
	}
	return fmt.Sprintf("%s?mode=ro&_pragma=busy_timeout(%d)", fileDSN(s.path), busyTimeout.Milliseconds())
}

// hasLog reports whether there is a log of either journal mode.
func (s *sqlite) hasLog() bool {
	for _, suffix := range []string{"-wal", "-journal"} {
		if _, err := os.Stat(s.path + suffix); err == nil {
			return true
		}
	}
	return false
}

// explainFile adds what to do to an error of the operating system.
func explainFile(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: run this as the service's user, or give that user the directory and the files in it (chown)", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: mount it for writing, name the directory in ReadWritePaths= of the systemd unit, or choose another --database", err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: free space there", err)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: a part of the path is a file, not a directory; choose another --database", err)
	}
	return err
}

// requireFile returns an error unless path is a file. An empty one is what an
// interrupted first start leaves.
func requireFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return store.ErrNoLedger
	case err != nil:
		return err
	case info.IsDir():
		return errDirectory
	case info.Size() == 0:
		return store.ErrNoLedger
	}
	return nil
}

// errDirectory is the error of a path that names a directory.
var errDirectory = errors.New("it is a directory; give the path of a file in it, such as sqlite:data/addrspec.db")
