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

// Versions of the schema. A number is never used for another schema.
const (
	Version      = 8 // what this program works with
	firstVersion = 7 // the oldest one that it migrates; its step makes the schema in an empty database
)

// Migration returns the SQL that takes a database from a version of the schema, 0 for an
// empty database, to Version: a dialect's files NNN.sql, of which each leads to version NNN. It
// returns "" for Version itself, and an error for a version that cannot be migrated.
func Migration(dialect fs.FS, version int) (string, error) {
	switch {
	case version > Version:
		return "", fmt.Errorf("its schema has version %d, this program supports up to %d: use a newer addrspec",
			version, Version)
	case 0 < version && version < firstVersion:
		return "", fmt.Errorf("%w (it has version %d, this program migrates from %d on): back the database up, start "+
			"'addrspec serve' of commit 9747a602 once, which migrates it to %[3]d, and then this program",
			ErrOldSchema, version, firstVersion)
	}
	steps := ""
	for next := max(version+1, firstVersion); next <= Version; next++ {
		step, err := fs.ReadFile(dialect, fmt.Sprintf("%03d.sql", next))
		if err != nil {
			return "", err
		}
		steps += string(step)
	}
	return steps, nil
}

// RequireCurrent returns an error unless version is Version.
func RequireCurrent(dialect fs.FS, version int) error {
	steps, err := Migration(dialect, version)
	switch {
	case err != nil:
		return err
	case version == 0:
		return ErrNoLedger
	case steps != "":
		return fmt.Errorf("%w (it has version %d, this program %d): back the database up, then start this release's "+
			"'addrspec serve', which migrates it", ErrOldSchema, version, Version)
	}
	return nil
}
