// Package store stores the ledger's rows in SQLite or PostgreSQL. It runs
// transactions and makes no decision about accounts: the ledger names the
// statements to run, and decides on the rows between the reads and the writes.
//
// The folders sqlite and postgres contain each dialect's queries and migrations
// under the same names in the same order, so a diff shows only the dialects.
//
// On SQLite a transaction acquires the write lock of the file before it reads. On
// PostgreSQL it locks the rows it reads. A commit whose confirmation is lost with
// the connection is in doubt: the transaction then reads its outcome from the
// server (postgres_doubt.go).
package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"
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
	// unchanged then. Only SQLite can know; see sqlite_alone.go.
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
	return openStore(ctx, url, clock, create)
}

// OpenExisting opens a database as Open does, but creates and migrates nothing. The
// error is ErrNoLedger if there is no database, or one without a ledger, and
// ErrOldSchema if it has an earlier schema.
func OpenExisting(ctx context.Context, url string, clock func() time.Time) (Store, error) {
	return openStore(ctx, url, clock, existing)
}

// OpenReadOnly opens a database as OpenExisting does, but writes nothing: it neither
// leaves a file behind nor changes one. Transactions fail on SQLite.
func OpenReadOnly(ctx context.Context, url string, clock func() time.Time) (Store, error) {
	return openStore(ctx, url, clock, readOnly)
}

// access is what opening a database may do to it.
type access int

const (
	create   access = iota // and migrate
	existing               // only one that has a ledger of this schema
	readOnly               // the same, and nothing is written
)

func openStore(ctx context.Context, url string, clock func() time.Time, a access) (Store, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		return openSQLite(ctx, rest, clock, a)
	case "postgres", "postgresql":
		return openPostgres(ctx, url, clock, a)
	}
	return nil, errors.New(`the database's URL must be "sqlite:PATH" or "postgres://USER@HOST/NAME"`)
}

//go:embed sqlite postgres
var files embed.FS

// catalogue returns a dialect's queries by name, those of all its files of
// queries. Each follows a line "-- name: NAME"; other comments and the final
// semicolon are dropped. An empty query does nothing.
func catalogue(dialect string) map[string]string {
	queries := map[string]string{}
	for _, file := range queryFiles {
		text, err := files.ReadFile(dialect + "/" + file)
		if err != nil {
			panic(err) // embedded: cannot be missing
		}
		addQueries(queries, string(text))
	}
	for name, query := range queries {
		queries[name] = strings.TrimSuffix(strings.TrimSpace(query), ";")
	}
	return queries
}

// queryFiles are the queries of the ledger, of package identity and of package
// webhook.
var queryFiles = []string{"queries.sql", "identity.sql", "webhook.sql"}

func addQueries(queries map[string]string, text string) {
	name := ""
	for line := range strings.Lines(text) {
		if after, ok := strings.CutPrefix(line, "-- name: "); ok {
			name = strings.TrimSpace(after)
			queries[name] = ""
		} else if name != "" && !strings.HasPrefix(line, "--") {
			queries[name] += line
		}
	}
}

// migrations returns a dialect's steps from an empty database to the current
// schema: the file NNN.sql migrates to version NNN, from 001 on.
func migrations(dialect string) []string {
	var steps []string
	for {
		step, err := files.ReadFile(fmt.Sprintf("%s/%03d.sql", dialect, len(steps)+1))
		if err != nil {
			return steps
		}
		steps = append(steps, string(step))
	}
}

// pending returns the steps that a database at version needs. It returns an error
// if the database is newer than this program.
func pending(steps []string, version int) ([]string, error) {
	if version > len(steps) {
		return nil, fmt.Errorf("its schema has version %d, this program supports up to %d: use a newer addrspec", version, len(steps))
	}
	return steps[version:], nil
}

func ping(ctx context.Context, s Store) error {
	var plans int
	return s.Query(ctx, Statement{Name: "ping", Scan: func(r Row) error { return r.Scan(&plans) }})
}
