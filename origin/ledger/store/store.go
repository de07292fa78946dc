// Package store stores the ledger's rows in SQLite or PostgreSQL. It runs
// transactions and makes no decision about accounts: the ledger names the
// statements to run, and decides on the rows between the reads and the writes.
//
// The packages sqlite and postgres are the drivers. A program imports those it needs,
// as with database/sql:
//
//	import _ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
//
// Queries that both databases understand are here. Each driver contains its migrations
// and the queries that differ, under the same names in the same order.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Store is one database. It is safe for concurrent use, except that only one
// Marked transaction may run at a time.
type Store interface {
	// Transact runs t. If it returns nil, the writes of t survive a crash. If it
	// returns an *InDoubt, the outcome is unknown; after any other error, such as a
	// *Locked, nothing was changed. Both wrap context.DeadlineExceeded if t took too long.
	Transact(ctx context.Context, t Transaction) error
	// Query runs a read-only statement, concurrently with transactions.
	Query(ctx context.Context, s Statement) error
	// Now returns the time of the clock that transactions use.
	Now(ctx context.Context) (time.Time, error)
	// Examine looks at the state of the database, until ctx ends.
	Examine(ctx context.Context) (Examination, error)
	Close() error
}

// A Transaction reads rows, decides on them and writes.
type Transaction struct {
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
	Name    string
	Account int64 // that it writes rows of, for Locked; 0 for others
	Args    []any
	Scan    func(Row) error
}

// JSON encodes a list as the argument of a query.
func JSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and strings of our own: cannot fail
	}
	return string(data)
}

// A Row is one row of a result.
type Row interface{ Scan(...any) error }

// ErrUnavailable means that the database did not commit, or did not respond; nothing was changed.
// The error that wraps it gives the cause.
var ErrUnavailable = errors.New("the ledger's database is unavailable")

// Unavailable returns an error that wraps ErrUnavailable and err.
func Unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }

// ErrData is the error of a transaction whose data the database rejects: a
// constraint violated, a value out of range. The same transaction fails again;
// others need not.
var ErrData = errors.New("the database rejects a row")

// A Locked is the error of a transaction that has waited too long for a lock that another
// session has. Nothing was changed. The database itself works: other rows may be free.
type Locked struct {
	Err     error
	Account int64 // of the statement that waited
}

func (l *Locked) Error() string { return l.Err.Error() }

// Unwrap returns the database's error.
func (l *Locked) Unwrap() error { return l.Err }

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
	return openStore(ctx, url, clock, true)
}

// OpenExisting opens a database as Open does, but creates and migrates nothing. The
// error is ErrNoLedger if there is no database, or one without a ledger, and
// ErrOldSchema if it has an earlier schema.
func OpenExisting(ctx context.Context, url string, clock func() time.Time) (Store, error) {
	return openStore(ctx, url, clock, false)
}

// An Opener opens the database at url, as Open does if create is set, else as OpenExisting.
type Opener func(ctx context.Context, url string, clock func() time.Time, create bool) (Store, error)

var openers = map[string]Opener{}

// Register makes Open use an opener for URLs of a scheme. Drivers call it when they are
// imported.
func Register(scheme string, open Opener) { openers[scheme] = open }

func openStore(ctx context.Context, url string, clock func() time.Time, create bool) (Store, error) {
	scheme, _, _ := strings.Cut(url, ":")
	if open := openers[scheme]; open != nil {
		return open(ctx, url, clock, create)
	}
	return nil, fmt.Errorf(`the database's URL must be "sqlite:PATH" or "postgres://USER@HOST/NAME"; `+
		"this program has the drivers %s", slices.Sorted(maps.Keys(openers)))
}

// ErrNoLedger is the error of OpenExisting if there is no ledger.
var ErrNoLedger = errors.New("there is no ledger; 'addrspec serve' and 'addrspec account create' make one")

// ErrOldSchema is the error of OpenExisting if the schema is of an earlier release, and of Open
// if this program does not migrate that one.
var ErrOldSchema = errors.New("its schema is of an earlier release")

// An Examination is the state of a database.
type Examination struct {
	Summary string  // in words
	Wrong   []error // what keeps charges from being durable or possible
	Advice  []error // what should be done soon
}
