package store

import (
	"fmt"
	"io/fs"
	"strings"
)

// Catalogue returns a dialect's queries by name, those of all its files of
// queries. Each follows a line "-- name: NAME"; other comments and the final
// semicolon are dropped. An empty query does nothing.
func Catalogue(files fs.FS) map[string]string {
	queries := map[string]string{}
	for _, file := range queryFiles {
		text, err := fs.ReadFile(files, file)
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
