// Package store stores the ledger's rows in SQLite or PostgreSQL. It runs
// transactions and makes no decision about accounts: the ledger names the
// statements to run, and decides on the rows between the reads and the writes.
//
// The packages sqlite and postgres are the drivers. A program imports those it needs,
// as with database/sql:
//
//	import _ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
//
// Both contain their dialect's queries and migrations under the same names in the
// same order, so a diff shows only the dialects.
package store

import (
	"context"
	"errors"
	"time"
)

// A Store is one database. It is safe for concurrent use, except that only one
// Marked transaction may run at a time.
type Store interface {
	// Transact runs t. If it returns nil, the writes of t survive a crash. If it
	// returns an *InDoubt, the outcome is unknown; after any other error nothing
	// was changed.
	Transact(ctx context.Context, t Transaction) error
	// Query runs a read-only statement, concurrently with transactions.
	Query(ctx context.Context, s Statement) error
	// Now returns the time of the clock that transactions use.
	Now(ctx context.Context) (time.Time, error)
	// Ping runs a query, to test the connection.
	Ping(ctx context.Context) error
	Close() error
}

// A Transaction reads rows, decides on them and writes.
type Transaction struct {
	// Alone, if not nil, is called before Reads if since the last Marked
	// transaction began nothing was committed to the database except by Marked
	// transactions of this Store. Rows that these have read or written are
	// unchanged then. Only SQLite can know; see sqlite/alone.go.
	Alone func()
	// Reads returns the statements that lock and read; nil for none. Rows stay
	// locked until the transaction ends. It is called again if the connection is
	// lost before Decide.
	Reads func() []Statement
	// Decide gets the database's time, read after the locks were acquired, and
	// returns the statements that write. If it returns none, the transaction is
	// rolled back.
	Decide func(now time.Time) ([]Statement, error)
	// Marked makes PostgreSQL write a number with the transaction, which shows
	// whether it was committed if it is in doubt.
	Marked bool
}

// A Statement is a query of the catalogue with its arguments. Scan, if not nil, is
// called for each row.
type Statement struct {
	Name string
	Args []any
	Scan func(Row) error
}

// A Row is one row of a result.
type Row interface{ Scan(...any) error }

// ErrData is the error of a transaction whose data the database rejects: a
// constraint violated, a value out of range. The same transaction fails again;
// others need not.
var ErrData = errors.New("the database rejects a row")

// An InDoubt is the error of a commit of unknown outcome.
type InDoubt struct {
	Err error
	// Committed reads the outcome from the database. It returns an error while
	// the database is unavailable.
	Committed func(context.Context) (bool, error)
}

func (d *InDoubt) Error() string { return d.Err.Error() }

// Unwrap returns the error of the commit.
func (d *InDoubt) Unwrap() error { return d.Err }

// Open opens the database at url, "sqlite:PATH" or "postgres://...", which it
// creates (SQLite) and migrates if it must. clock is the clock of transactions; nil
// is the server's on PostgreSQL, this machine's on SQLite.
func Open(ctx context.Context, url string, clock func() time.Time) (Store, error) {
	return openStore(ctx, url, clock, Create)
}

// OpenExisting opens a database as Open does, but creates and migrates nothing. The
// error is ErrNoLedger if there is no database, or one without a ledger, and
// ErrOldSchema if it has an earlier schema.
func OpenExisting(ctx context.Context, url string, clock func() time.Time) (Store, error) {
	return openStore(ctx, url, clock, Existing)
}

// OpenReadOnly opens a database as OpenExisting does, but writes nothing: it neither
// leaves a file behind nor changes one. Transactions fail on SQLite.
func OpenReadOnly(ctx context.Context, url string, clock func() time.Time) (Store, error) {
	return openStore(ctx, url, clock, ReadOnly)
}
