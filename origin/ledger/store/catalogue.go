package store

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// shared are the queries that both dialects understand: the ledger's, package
// identity's and package webhook's.
//
//go:embed *.sql
var shared embed.FS

// Catalogue returns a dialect's queries by name: the shared ones, and those of its
// own file queries.sql. Each follows a line "-- name: NAME"; other comments and the
// final semicolon are dropped. An empty query does nothing.
func Catalogue(dialect fs.FS) map[string]string {
	queries := map[string]string{}
	for _, file := range []string{"queries.sql", "identity.sql", "webhook.sql"} {
		addQueries(queries, shared, file)
	}
	addQueries(queries, dialect, "queries.sql")
	for name, query := range queries {
		queries[name] = strings.TrimSuffix(strings.TrimSpace(query), ";")
	}
	return queries
}

func addQueries(queries map[string]string, files fs.FS, file string) {
	text, err := fs.ReadFile(files, file)
	if err != nil {
		panic(err) // embedded: cannot be missing
	}
	name := ""
	for line := range strings.Lines(string(text)) {
		if after, ok := strings.CutPrefix(line, "-- name: "); ok {
			name = strings.TrimSpace(after)
			queries[name] = ""
		} else if name != "" && !strings.HasPrefix(line, "--") {
			queries[name] += line
		}
	}
}

// Migrations returns a dialect's steps from an empty database to the current
// schema: the file NNN.sql migrates to version NNN, from 001 on.
func Migrations(files fs.FS) []string {
	var steps []string
	for {
		step, err := fs.ReadFile(files, fmt.Sprintf("%03d.sql", len(steps)+1))
		if err != nil {
			return steps
		}
		steps = append(steps, string(step))
	}
}

// Pending returns the steps that a database at version needs. It returns an error
// if the database is newer than this program.
func Pending(steps []string, version int) ([]string, error) {
	if version > len(steps) {
		return nil, fmt.Errorf("its schema has version %d, this program supports up to %d: use a newer addrspec", version, len(steps))
	}
	return steps[version:], nil
}

// RequireCurrent returns an error unless version is that of this program's schema.
func RequireCurrent(steps []string, version int) error {
	left, err := Pending(steps, version)
	switch {
	case err != nil:
		return err
	case version == 0:
		return ErrNoLedger
	case len(left) > 0:
		return fmt.Errorf("%w (it has version %d, this program %d)", ErrOldSchema, version, len(steps))
	}
	return nil
}
