package ledger

import (
	"context"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A store is one database. What it does and in what words is all that differs
// between SQLite and PostgreSQL; every decision is made above it.
type store interface {
	// transact runs reads, then what decide makes of them, in one transaction
	// that excludes others from the accounts read, and commits it durably. When
	// decide returns nothing to do, or fails, nothing is changed. When it
	// cannot be known whether the commit was done, the error is an inDoubt.
	// When the connection is lost before decide, all begins again with reads.
	transact(ctx context.Context, reads func() []statement, decide func(now time.Time) ([]statement, error)) error
	// query runs a statement that only reads, beside the writer.
	query(ctx context.Context, s statement) error
	ping(ctx context.Context) error
	close() error
}

// A statement is one of the catalogue's queries with its arguments. scan is
// called for each row.
type statement struct {
	name string
	args []any
	scan func(row) error
}

// An inDoubt is the error of a commit whose answer was lost. Once the database
// can be asked again, committed tells what became of it.
type inDoubt struct {
	error
	committed func(context.Context) (bool, error)
}

func (d *inDoubt) Unwrap() error { return d.error }

type row interface{ Scan(...any) error }

// openStore opens the database that url names.
func openStore(ctx context.Context, url string, s settings) (store, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		return openSQLite(ctx, rest, s.localClock())
	case "postgres", "postgresql":
		return openPostgres(ctx, url, s.clock)
	}
	return nil, errors.New(`the database must be given as "sqlite:PATH" or "postgres://USER@HOST/NAME"`)
}

//go:embed sqlite postgres
var files embed.FS

// catalogue reads a dialect's queries. Each follows a line "-- name: NAME";
// other comments and the closing semicolon are dropped.
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
		} else if !strings.HasPrefix(line, "--") {
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

// noReads is for transactions that only write.
func noReads() []statement { return nil }

// asJSON is how lists reach a query in both dialects.
func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and strings of our own: cannot fail
	}
	return string(data)
}

func toHex(b []byte) string { return hex.EncodeToString(b) }

func fromHex(dst []byte, s string) error {
	if hex.DecodedLen(len(s)) != len(dst) {
		return errors.New("a hash in the database has the wrong length")
	}
	_, err := hex.Decode(dst, []byte(s))
	return err
}
