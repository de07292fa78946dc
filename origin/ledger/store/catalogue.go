package store

import (
	_ "embed" // for the queries
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// Queries that both dialects understand: the ledger's, package identity's and package webhook's.
var (
	//go:embed queries.sql
	ledgerQueries string
	//go:embed identity.sql
	identityQueries string
	//go:embed webhook.sql
	webhookQueries string
)

var commentLines = regexp.MustCompile(`(?m)^--.*\n`)

// Catalogue returns a dialect's queries by name: the shared ones, and those of its
// own file queries.sql. Each follows a line "-- name: NAME"; other comments and the
// final semicolon are dropped. An empty query does nothing.
func Catalogue(dialect fs.FS) map[string]string {
	own, err := fs.ReadFile(dialect, "queries.sql")
	if err != nil {
		panic(err) // embedded: cannot be missing
	}
	queries := map[string]string{}
	all := ledgerQueries + identityQueries + webhookQueries + string(own)
	for _, part := range strings.Split(all, "-- name: ")[1:] {
		name, query, _ := strings.Cut(part, "\n")
		queries[name] = strings.TrimSuffix(strings.TrimSpace(commentLines.ReplaceAllString(query, "")), ";")
	}
	return queries
}

// Versions of the schema. A number is never used for another schema.
const (
	Version      = 8 // what this program works with
	firstVersion = 7 // the oldest one that it migrates; its step makes the schema in an empty database
)

// Migration returns the SQL that takes a database from a version of the schema, 0 for an
// empty database, to Version: a dialect's files NNN.sql, of which each leads to version NNN. It
// returns "" for Version itself, and an error for a version that cannot be migrated. Unless
// create is set, that is any other than Version.
func Migration(dialect fs.FS, version int, create bool) (string, error) {
	switch {
	case version > Version:
		return "", fmt.Errorf("its schema has version %d, this program supports up to %d: use a newer addrspec",
			version, Version)
	case 0 < version && version < firstVersion:
		return "", fmt.Errorf("%w (it has version %d, this program migrates from %d on): back the database up, start "+
			"'addrspec serve' of commit 9747a602 once, which migrates it to %[3]d, and then this program",
			ErrOldSchema, version, firstVersion)
	case version == 0 && !create:
		return "", ErrNoLedger
	case version < Version && !create:
		return "", fmt.Errorf("%w (it has version %d, this program %d): back the database up, then start this release's "+
			"'addrspec serve', which migrates it", ErrOldSchema, version, Version)
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
