package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"modernc.org/sqlite" // also registers the driver "sqlite"
	codes "modernc.org/sqlite/lib"
)

// errMissing is the error of reading a database that does not exist.
var errMissing = errors.New("there is no such file; give the ledger's path, as in --database sqlite:/var/lib/addrspec/addrspec.db")

// errNotLedger is the error of reading another database.
var errNotLedger = errors.New("it is not a ledger of addrspec")

// errNewer is the error of reading a ledger that a newer release has migrated.
var errNewer = errors.New("a newer release of addrspec has migrated it; use that release")

func sqlitePath(url string) (path string, ok bool) { return strings.CutPrefix(url, "sqlite:") }

// openFile opens an SQLite file that exists, with one connection. mode is "rw", or
// "ro" for a file that no server writes. pragmas are such as "query_only(1)".
func openFile(path, mode string, pragmas ...string) (*sql.DB, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, errMissing)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: it is not a file", path)
	}
	db, err := sql.Open("sqlite", fileURL(path, "mode="+mode, append([]string{"busy_timeout(5000)"}, pragmas...)...))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// fileURL returns the URI of a file, see https://www.sqlite.org/uri.html.
func fileURL(path, query string, pragmas ...string) string {
	for _, p := range pragmas {
		query += "&_pragma=" + p
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query
}

// A querier is a connection or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// ledgerVersion returns the version of a ledger's schema.
func ledgerVersion(ctx context.Context, db querier) (version int, err error) {
	var found int
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('accounts', 'keys', 'usage', 'plans')").Scan(&found)
	if err == nil {
		err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	}
	switch {
	case err != nil:
		return 0, explainSQLite(err)
	case found < 4 || version < 1:
		return 0, errNotLedger
	case version > schemaVersion:
		return 0, fmt.Errorf("%w (its schema has version %d, this release supports up to %d)", errNewer, version, schemaVersion)
	}
	return version, nil
}

// A sqliteSource is a read transaction on an SQLite file. In WAL mode it reads one
// snapshot while others write (https://www.sqlite.org/isolation.html).
type sqliteSource struct {
	db *sql.DB
	tx *sql.Tx
}

func openSQLiteSource(ctx context.Context, path string) (source, error) {
	db, err := openFile(path, "rw", "query_only(1)")
	if err != nil {
		return nil, err
	}
	s := &sqliteSource{db: db}
	if err := s.begin(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("database %q: %w", path, err), s.Close())
	}
	return s, nil
}

func (s *sqliteSource) begin(ctx context.Context) (err error) {
	if s.tx, err = s.db.BeginTx(ctx, nil); err != nil {
		return explainSQLite(err)
	}
	version, err := ledgerVersion(ctx, s.tx)
	if err == nil && version < schemaVersion {
		err = olderError(version)
	}
	return err
}

// olderError explains why a ledger cannot be exported before it is migrated.
func olderError(version int) error {
	return fmt.Errorf("its schema has version %d, this release exports %d: start addrspec serve of this release once, which migrates it", version, schemaVersion)
}

func (s *sqliteSource) lastID(ctx context.Context, t table) (last int64, err error) {
	err = s.tx.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = $1", t.Name).Scan(&last)
	return last, explainSQLite(err)
}

// each reads in the order of the key; SQLite compares text as bytes.
func (s *sqliteSource) each(ctx context.Context, t table, visit func([]any) error) error {
	rows, err := s.tx.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", strings.Join(t.names(), ", "), t.Name, strings.Join(t.Key, ", ")))
	if err != nil {
		return explainSQLite(err)
	}
	defer rows.Close()
	values, into := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return explainSQLite(err)
		}
		if err := visit(values); err != nil {
			return err
		}
	}
	return explainSQLite(rows.Err())
}

// Close ends the transaction.
func (s *sqliteSource) Close() error {
	if s.tx != nil {
		_ = s.tx.Rollback()
	}
	return s.db.Close()
}

// A sqliteTarget is a write transaction on an SQLite file.
type sqliteTarget struct {
	db *sql.DB
	tx *sql.Tx
}

// openSQLiteTarget begins the transaction with the write lock. FULL makes the
// commit wait for the disk.
func openSQLiteTarget(ctx context.Context, path string) (target, error) {
	db, err := openFile(path, "rw&_txlock=immediate", "synchronous(FULL)", "foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	t := &sqliteTarget{db: db}
	if err := t.begin(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("database %q: %w", path, err), t.Close())
	}
	return t, nil
}

func (s *sqliteTarget) begin(ctx context.Context) (err error) {
	if s.tx, err = s.db.BeginTx(ctx, nil); err != nil {
		return explainSQLite(err)
	}
	var accounts int
	if err := s.tx.QueryRowContext(ctx, "SELECT count(*) FROM accounts").Scan(&accounts); err != nil {
		return explainSQLite(err)
	}
	if accounts > 0 {
		return errNotEmpty
	}
	for _, name := range rowsOfNewLedgers {
		if _, err := s.tx.ExecContext(ctx, "DELETE FROM "+name); err != nil {
			return explainSQLite(err)
		}
	}
	return nil
}

// rowsOfNewLedgers are the tables that can have rows while there is no account: the
// plans that the migration inserts, and what visitors of the sign-in page leave.
var rowsOfNewLedgers = []string{"plans", "challenges", "attempts"}

func (s *sqliteTarget) fill(ctx context.Context, t table, next func() ([]any, error)) error {
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.Columns)), ", ")
	insert, err := s.tx.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", t.Name, strings.Join(t.names(), ", "), marks))
	if err != nil {
		return explainSQLite(err)
	}
	defer insert.Close()
	for {
		values, err := next()
		if err != nil || values == nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return explainSQLite(err)
		}
	}
}

// setLastID sets the counter of AUTOINCREMENT (https://www.sqlite.org/autoinc.html).
// A table that has given out no ID has no row there.
func (s *sqliteTarget) setLastID(ctx context.Context, t table, last int64) error {
	_, err := s.tx.ExecContext(ctx, "DELETE FROM sqlite_sequence WHERE name = $1", t.Name)
	if err == nil && last > 0 {
		_, err = s.tx.ExecContext(ctx, "INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)", t.Name, last)
	}
	return explainSQLite(err)
}

func (s *sqliteTarget) commit(context.Context) error { return explainSQLite(s.tx.Commit()) }

// Close ends the transaction.
func (s *sqliteTarget) Close() error {
	if s.tx != nil {
		_ = s.tx.Rollback() // an error after commit
	}
	return s.db.Close()
}

// sqliteAdvice is what an operator can do about an error, by its primary code.
var sqliteAdvice = map[int]string{
	codes.SQLITE_BUSY:     "another process has locked the database; end it, or try again",
	codes.SQLITE_IOERR:    "reading or writing the disk failed; check the disk",
	codes.SQLITE_CORRUPT:  "the file is damaged; use another backup",
	codes.SQLITE_FULL:     "the disk is full; free some space and try again",
	codes.SQLITE_CANTOPEN: "the file cannot be opened; check its mode, and that of its directory",
	codes.SQLITE_NOTADB:   "the file is not an SQLite database",
}

// explainSQLite adds advice to an error of SQLite.
func explainSQLite(err error) error {
	if what := sqliteAdvice[sqliteCode(err)]; what != "" {
		return fmt.Errorf("%s (%w)", what, err)
	}
	return err
}

// sqliteCode returns the low byte of SQLite's result code; the rest is detail.
func sqliteCode(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return codes.SQLITE_OK
	}
	return e.Code() & 0xff
}
