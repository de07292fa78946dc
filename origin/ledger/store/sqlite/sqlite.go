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
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

func init() { store.Register("sqlite", openSQLite) }

// files are the queries and the migrations.
//
//go:embed *.sql
var files embed.FS

// sqlite is a database in one file. One connection writes. Its transactions
// acquire the write lock when they begin, so that the rows they read cannot
// change; other connections read concurrently.
type sqlite struct {
	queries map[string]string
	clock   func() time.Time

	mu       sync.Mutex // locked during a transaction on conn
	conn     *sql.Conn
	prepared map[string]*sql.Stmt // on conn, by query

	write, read *sql.DB
	reads       sync.Map // *sql.Stmt of Query, by name
}

const (
	busyTimeout = 5 * time.Second // for another process that has the file locked
	pollEvery   = 200 * time.Microsecond
	maxReaders  = 4 // connections of Query
)

func openSQLite(ctx context.Context, url string, clock func() time.Time, create bool) (store.Store, error) {
	if clock == nil {
		clock = time.Now
	}
	s := &sqlite{queries: store.Catalogue(files), prepared: map[string]*sql.Stmt{}, clock: clock}
	path := strings.TrimPrefix(url, "sqlite:")
	err := prepareFile(path, create)
	if err == nil {
		err = s.open(ctx, path, create)
	}
	if err != nil {
		return nil, fmt.Errorf("database %q: %w", path, errors.Join(explain(err), s.Close()))
	}
	return s, nil
}

// prepareFile creates the file and its directory if it may, unless they exist. Only their
// owner has access, because the ledger contains email addresses of customers.
func prepareFile(path string, create bool) error {
	hostLike := strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "///")
	if path == "" || strings.HasPrefix(path, ":") || hostLike {
		return errors.New("give the path of a file, as in sqlite:data/addrspec.db")
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return errors.New("it is a directory; give the path of a file in it, such as sqlite:data/addrspec.db")
	}
	if !create {
		if errors.Is(err, fs.ErrNotExist) {
			return store.ErrNoLedger
		}
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func (s *sqlite) open(ctx context.Context, path string, create bool) (err error) {
	// Each connection has the pragmas. FULL makes a commit wait for the disk, once in
	// WAL mode. NORMAL would lose the last charges if the power fails. FAST overwrites
	// what is deleted from a page that is written anyway, so that a secret that was
	// sealed is not in the page's free space.
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() +
		"?_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=secure_delete(FAST)"
	if create { // otherwise the file stays as it is, because it need not be a ledger
		dsn += "&_pragma=journal_mode(WAL)"
	}
	s.write, err = sql.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	reading := fmt.Sprintf("&_pragma=busy_timeout(%d)&_pragma=query_only(1)", busyTimeout.Milliseconds())
	s.read, err = sql.Open("sqlite", dsn+reading)
	if err != nil {
		return err
	}
	s.read.SetMaxOpenConns(maxReaders)
	err = untilFree(func() error {
		s.conn, err = s.write.Conn(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return s.migrate(ctx, create)
}

// migrate reads the schema version, under the write lock if it may migrate: if several
// processes start at once, the first migrates and the others find nothing to do.
func (s *sqlite) migrate(ctx context.Context, create bool) error {
	migrate := func() error {
		var version int
		if err := s.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		steps, err := store.Migration(files, version, create)
		if err != nil || steps == "" {
			return err
		}
		_, err = s.conn.ExecContext(ctx, fmt.Sprintf("%s PRAGMA user_version = %d", steps, store.Version))
		return err
	}
	if create {
		return s.exclusive(ctx, migrate)
	}
	return untilFree(migrate) // because another process may recover the log, or move it into the file
}

// Now returns the time of the clock that transactions use.
func (s *sqlite) Now(context.Context) (time.Time, error) { return s.clock(), nil }

// checkLimit bounds the check of a file. A large one is checked in part.
const checkLimit = 5 * time.Second

// Examine runs PRAGMA quick_check, which reads the whole file but for the indexes'
// contents, and looks at the journal mode.
func (s *sqlite) Examine(ctx context.Context) (e store.Examination, err error) {
	var version, journal, found string
	err = s.read.QueryRowContext(ctx, "SELECT sqlite_version(), journal_mode FROM pragma_journal_mode").Scan(&version, &journal)
	if err != nil {
		return e, explain(err)
	}
	if journal != "wal" { // commits are as durable, but readers and the writer wait for each other
		e.Advice = append(e.Advice, errors.New("its journal is not a write-ahead log: serve changes that at its start; "+
			"if it is running, the file system does not support shared memory, so use a local disk"))
	}
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	start := time.Now()
	err = s.read.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found)
	checked := fmt.Sprintf("sound (checked in %s)", time.Since(start).Round(time.Millisecond))
	switch {
	case ctx.Err() != nil:
		checked = fmt.Sprintf("not checked whole: larger than %s allow", checkLimit)
	case err != nil:
		return e, explain(err)
	case found != "ok":
		checked = "damaged"
		e.Wrong = append(e.Wrong, fmt.Errorf("the file is damaged (%s): stop the service and restore it from a backup", found))
	}
	e.Summary = fmt.Sprintf("SQLite %s, %s", version, checked)
	return e, nil
}

// Close closes the connections. The last one to close moves the write-ahead log
// into the database file.
func (s *sqlite) Close() error {
	s.mu.Lock() // a prepared statement that is closed within its transaction crashes SQLite
	defer s.mu.Unlock()
	var errs []error
	for _, ready := range s.prepared {
		errs = append(errs, ready.Close())
	}
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			errs = append(errs, db.Close()) // and the statements of all its connections
		}
	}
	return errors.Join(errs...)
}
