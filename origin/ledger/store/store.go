// Package store keeps the ledger's rows in SQLite or PostgreSQL. It knows
// databases and no decisions: the ledger says by name which statements to run
// and decides on the rows between reading and writing.
//
// The folders sqlite and postgres hold each dialect's queries and migrations
// under the same names in the same order, so that a diff shows dialect alone.
package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Store is one database. It is safe for concurrent use, but runs one Marked
// transaction at a time.
type Store interface {
	// Transact runs t durably: after nil its writes survive a crash. After an
	// *InDoubt nobody knows yet; after any other error nothing was changed.
	Transact(ctx context.Context, t Transaction) error
	// Query runs a statement that only reads, beside transactions.
	Query(ctx context.Context, s Statement) error
	// Now reads the clock that transactions go by.
	Now(ctx context.Context) (time.Time, error)
	Ping(ctx context.Context) error
	Close() error
}

// A Transaction reads rows, decides on them and writes.
type Transaction struct {
	// Reads lists what to load first; nil for nothing. The rows it locks stay
	// locked until the end. It is called again if the connection turns out to
	// be lost before Decide.
	Reads func() []Statement
	// Decide is given the database's time, read after the locks were granted,
	// and returns what to write; with no statement nothing is changed.
	Decide func(now time.Time) ([]Statement, error)
	// Marked transactions can be recognized when they are in doubt: PostgreSQL
	// writes a number of their own with each.
	Marked bool
}

// A Statement is one of the catalogue's queries with its arguments. Scan, if
// any, is called for each row.
type Statement struct {
	Name string
	Args []any
	Scan func(Row) error
}

// A Row is one row of a result.
type Row interface{ Scan(...any) error }

// ErrData marks an error that lies in the data: a constraint violated, a value
// out of range. The same transaction fails again, and others do not.
var ErrData = errors.New("the database refuses a row")

// An InDoubt is the error of a commit of unknown outcome.
type InDoubt struct {
	Err error
	// Committed asks the database what happened; it fails while the database
	// cannot be asked.
	Committed func(context.Context) (bool, error)
}

func (d *InDoubt) Error() string { return d.Err.Error() }

// Unwrap returns the error of the commit.
func (d *InDoubt) Unwrap() error { return d.Err }

// Open opens the database that url names, "sqlite:PATH" or "postgres://...",
// and brings its schema up to date. clock is the time to go by; nil is the
// database's own, which for SQLite is this machine's.
func Open(ctx context.Context, url string, clock func() time.Time) (Store, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		return openSQLite(ctx, rest, clock)
	case "postgres", "postgresql":
		return openPostgres(ctx, url, clock)
	}
	return nil, errors.New(`the database must be given as "sqlite:PATH" or "postgres://USER@HOST/NAME"`)
}

//go:embed sqlite postgres
var files embed.FS

// catalogue reads a dialect's queries. Each follows a line "-- name: NAME";
// other comments and the closing semicolon are dropped. One that is empty has
// nothing to do in this dialect.
func catalogue(dialect string) map[string]string {
	text, err := files.ReadFile(dialect + "/queries.sql")
	if err != nil {
		panic(err) // embedded: cannot be missing
	}
	queries := map[string]string{}
	name := ""
	for line := range strings.Lines(string(text)) {
		if after, ok := strings.CutPrefix(line, "-- name: "); ok {
			name = strings.TrimSpace(after)
			queries[name] = ""
		} else if name != "" && !strings.HasPrefix(line, "--") {
			queries[name] += line
		}
	}
	for name, query := range queries {
		queries[name] = strings.TrimSuffix(strings.TrimSpace(query), ";")
	}
	return queries
}

// migrations are a dialect's steps from an empty database to the schema of
// this program: the file NNN.sql leads to version NNN, from 001 on.
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

// pending are the steps that a database at version still needs.
func pending(steps []string, version int) ([]string, error) {
	if version > len(steps) {
		return nil, fmt.Errorf("its schema has version %d, this program knows up to %d: use a newer addrspec", version, len(steps))
	}
	return steps[version:], nil
}

func ping(ctx context.Context, s Store) error {
	var plans int
	return s.Query(ctx, Statement{Name: "ping", Scan: func(r Row) error { return r.Scan(&plans) }})
}
