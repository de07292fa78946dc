// Package archive copies a whole ledger: accounts, keys, usage, idempotency
// records, the people who sign in, webhooks, policies.
//
// A backup is an SQLite file, an export a text that SQLite and PostgreSQL can both read and
// write. Both have one snapshot of the ledger while servers charge, which they do not migrate.
//
// # The format of an export
//
// An export is UTF-8 text, one JSON value a line, optionally compressed with gzip.
// Version 1 has these lines, in this order:
//
//	{"format":"addrspec ledger","version":1,"schema":8}
//	{"table":"plans","columns":["name","rate","points","overage","stored"]}
//	["free",1,1000,false,268435456]
//	{"table":"accounts","columns":["id","email",…],"last_id":2}
//	[1,"jane@example.org",…]
//	{"rows":{"accounts":1,"plans":1,…},"sha256":"…"}
//
// Every table of tables.go follows with its columns and its rows in the order of its primary
// key, compared as bytes. last_id is the highest ID that the table has given out; IDs are not
// reused. A row has one value a column: a number, a string, true or false, null, or for bytes
// a string in base 64. The last line counts the rows of each table and has the SHA-256 of all
// bytes before it. Equal ledgers of one schema have equal exports in either database.
//
// Errors name tables, columns and lines, but no address and no key.
package archive

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// The lines of an export that are not rows.
type (
	header struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		Schema  int    `json:"schema"`
	}
	tableLine struct {
		Table   string   `json:"table"`
		Columns []string `json:"columns"`
		LastID  *int64   `json:"last_id,omitempty"`
	}
	endLine struct {
		Rows   Counts `json:"rows"`
		SHA256 string `json:"sha256"`
	}
)

const (
	formatName    = "addrspec ledger"
	formatVersion = 1

	// maxLine bounds a line. The longest value is a stored response; a body of 1 MiB
	// makes one of at most 6 MiB, which base 64 makes 8.
	maxLine = 16 << 20
)

// Counts is the number of rows of each table.
type Counts map[string]int64

// Export writes the ledger of the database at url to w, from one snapshot. A server
// may charge meanwhile. Its memory does not depend on the size of the ledger.
func Export(ctx context.Context, url string, w io.Writer) (Counts, error) {
	if err := requireLedger(ctx, url); err != nil {
		return nil, err
	}
	db, err := begin(ctx, url, false)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	sum, counts := sha256.New(), Counts{}
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 1<<16)
	lines := json.NewEncoder(out)
	_ = lines.Encode(header{formatName, formatVersion, store.Version}) // Flush returns the error
	for i := range tables {
		t := &tables[i]
		line := tableLine{Table: t.name, Columns: t.columns}
		if t.numbered { // read after the snapshot was taken, so it is at least the ID of every row
			query := "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '" + t.name + "'"
			if db.postgres {
				query = "SELECT last_value - (NOT is_called)::int FROM " + t.name + "_id_seq"
			}
			err = db.QueryRowContext(ctx, query).Scan(&line.LastID)
		}
		if err == nil {
			err = lines.Encode(line)
		}
		if err == nil {
			counts[t.name], err = db.writeRows(ctx, t, lines)
		}
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.name, explain(err))
		}
	}
	if err := out.Flush(); err != nil { // completes the checksum
		return nil, err
	}
	_ = lines.Encode(endLine{counts, hex.EncodeToString(sum.Sum(nil))})
	return counts, out.Flush()
}

// writeRows compares text as bytes, whatever the database's locale is.
func (db *database) writeRows(ctx context.Context, t *table, lines *json.Encoder) (n int64, err error) {
	order := slices.Clone(t.key)
	for i, name := range order {
		if db.postgres && t.kinds[slices.Index(t.columns, name)] == text {
			order[i] += ` COLLATE "C"`
		}
	}
	query := "SELECT " + strings.Join(t.columns, ", ") + " FROM " + t.name + " ORDER BY " + strings.Join(order, ", ")
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	values, into := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i := range values {
		into[i] = &values[i]
	}
	for ; rows.Next(); n++ {
		if err := rows.Scan(into...); err != nil {
			return n, err
		}
		for i, kind := range t.kinds {
			switch v := values[i].(type) {
			case int64: // SQLite has no booleans
				if kind == boolean {
					values[i] = v != 0
				}
			case string:
				if !utf8.ValidString(v) { // JSON would have another text
					return n, fmt.Errorf("row %d, column %s: it is not valid UTF-8 text", n+1, t.columns[i])
				}
			}
		}
		if err := lines.Encode(values); err != nil {
			return n, err
		}
	}
	return n, rows.Err()
}
