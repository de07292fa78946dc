package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

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
	s, err := store.OpenExisting(ctx, url, nil)
	if err != nil {
		return err
	}
	return s.Close()
}

// A database is a transaction that reads or fills a whole ledger.
type database struct {
	*sql.Tx
	db       *sql.DB
	conn     *sql.Conn // of the transaction
	postgres bool
}

// begin starts a transaction. One that writes keeps other writers out of SQLite.
func begin(ctx context.Context, url string, write bool) (_ *database, err error) {
	path, isFile := strings.CutPrefix(url, "sqlite:")
	db, options := &database{postgres: !isFile}, (*sql.TxOptions)(nil)
	switch {
	case isFile && write: // FULL makes the commit wait for the disk
		db.db, err = openFile(path, "mode=rw&_txlock=immediate&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)")
	case isFile:
		db.db, err = openFile(path, "mode=rw&_pragma=query_only(1)")
	default:
		if !write {
			options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
		}
		config, err := pgxpool.ParseConfig(url) // accepts the pool_ parameters that a server's URL may have
		if err != nil {
			return nil, fmt.Errorf("the database's URL: %w", err) // pgx leaves the password out
		}
		db.db = stdlib.OpenDB(*config.ConnConfig)
	}
	if err != nil {
		return nil, err
	}
	db.conn, err = db.db.Conn(ctx)
	if err == nil {
		db.Tx, err = db.conn.BeginTx(ctx, options)
	}
	if err == nil && db.postgres { // a copy may take longer than usual
		_, err = db.ExecContext(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '5s'; "+
			"SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL synchronous_commit = on")
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
	if db.conn != nil {
		_ = db.conn.Close()
	}
	return db.db.Close()
}

// openFile opens an SQLite file with one connection. Its mode is rw, or ro for a file that
// no server writes.
func openFile(path, options string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=busy_timeout(5000)&"+options)
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

var advice = map[any]string{
	"55P03":               "a server writes to the ledger; stop it and try again",
	codes.SQLITE_BUSY:     "another process has locked the database; end it, or try again",
	codes.SQLITE_CORRUPT:  errCorrupt.Error(),
	codes.SQLITE_CANTOPEN: "the file cannot be opened; check its mode, and that of its directory",
}

// explain leaves out the detail of a PostgreSQL error, which quotes values of the row.
func explain(err error) error {
	what := advice[sqliteCode(err)]
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		what = advice[e.Code]
	}
	if what != "" {
		return fmt.Errorf("%s (%w)", what, err)
	}
	return err
}

func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return codes.SQLITE_OK
}
