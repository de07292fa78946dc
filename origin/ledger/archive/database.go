package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite" // also registers the driver "sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// requireLedger returns an error unless the database has a ledger that this release can
// read as it is. The store knows which schemas those are.
func requireLedger(ctx context.Context, url string) error {
	s, err := store.OpenReadOnly(ctx, url, nil)
	if err != nil {
		return err
	}
	return s.Close()
}

// A database is a transaction that reads or fills a whole ledger.
type database struct {
	*sql.Tx
	db       *sql.DB
	postgres bool
	schema   int // its version
}

// begin starts a transaction: one that reads a single snapshot, or one that writes and
// keeps other writers out.
func begin(ctx context.Context, url string, write bool) (_ *database, err error) {
	path, isFile := strings.CutPrefix(url, "sqlite:")
	db := &database{postgres: !isFile}
	version, options := "PRAGMA user_version", (*sql.TxOptions)(nil)
	switch {
	case db.postgres:
		version = "SELECT max(version) FROM schema_version"
		if !write {
			options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
		}
		config, err := pgxpool.ParseConfig(url) // accepts the pool_ parameters that a server's URL may have
		if err != nil {
			return nil, fmt.Errorf("the database's URL: %w", err) // pgx leaves the password out
		}
		prepare := func(ctx context.Context, conn *pgx.Conn) error { // a copy may take longer than usual
			_, err := conn.Exec(ctx, "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; "+
				"SET lock_timeout = '5s'; SET synchronous_commit = on")
			return err
		}
		db.db = stdlib.OpenDB(*config.ConnConfig, stdlib.OptionAfterConnect(prepare))
	case write: // FULL makes the commit wait for the disk
		db.db, err = openFile(path, "rw&_txlock=immediate", "synchronous(FULL)", "foreign_keys(1)")
	default:
		db.db, err = openFile(path, "rw", "query_only(1)")
	}
	if err != nil {
		return nil, err
	}
	db.Tx, err = db.db.BeginTx(ctx, options)
	if err == nil {
		err = db.QueryRowContext(ctx, version).Scan(&db.schema) // takes the snapshot
	}
	if err != nil {
		return nil, errors.Join(explain(err), db.Close())
	}
	return db, nil
}

// Close ends the transaction. What was not committed is rolled back.
func (db *database) Close() error {
	if db.Tx != nil {
		_ = db.Rollback() // an error after a commit
	}
	return db.db.Close()
}

// openFile opens an SQLite file that exists, with one connection. mode is "rw", or "ro"
// for a file that no server writes. pragmas are such as "query_only(1)".
func openFile(path, mode string, pragmas ...string) (*sql.DB, error) {
	name := "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=" + mode + "&_pragma=busy_timeout(5000)"
	for _, p := range pragmas {
		name += "&_pragma=" + p
	}
	db, err := sql.Open("sqlite", name)
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

const adviceFull = "the disk is full; free some space and try again"

// advice is what an operator can do about an error, by SQLSTATE or SQLite's primary code.
var advice = map[any]string{
	"55P03":               "a server writes to the ledger; stop it and try again",
	"53100":               "the database's " + adviceFull,
	codes.SQLITE_BUSY:     "another process has locked the database; end it, or try again",
	codes.SQLITE_IOERR:    "reading or writing the disk failed; check the disk",
	codes.SQLITE_CORRUPT:  errCorrupt.Error(),
	codes.SQLITE_FULL:     adviceFull,
	codes.SQLITE_CANTOPEN: "the file cannot be opened; check its mode, and that of its directory",
	codes.SQLITE_NOTADB:   "the file is not an SQLite database",
}

// explain adds advice to an error of a database. It leaves out the detail of PostgreSQL's,
// which quotes values of the row.
func explain(err error) error {
	what := advice[sqliteCode(err)]
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		err = &pgconn.PgError{Severity: e.Severity, Code: e.Code, Message: e.Message, TableName: e.TableName,
			ConstraintName: e.ConstraintName}
		what = advice[e.Code]
	}
	if what != "" {
		return fmt.Errorf("%s (%w)", what, err)
	}
	return err
}

// sqliteCode returns the low byte of SQLite's result code; the rest is detail.
func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return codes.SQLITE_OK
}
