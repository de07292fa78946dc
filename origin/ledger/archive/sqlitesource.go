package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger/archive/ndjson"
)

// A sqliteSource is a read transaction on an SQLite file. In WAL mode it reads one
// snapshot while others write (https://www.sqlite.org/isolation.html).
type sqliteSource struct {
	db *sql.DB
	tx *sql.Tx
}

func openSQLiteSource(ctx context.Context, path string) (source, error) {
	db, err := openFile(path, "rw", "query_only(1)")
	if err != nil {
		return nil, err
	}
	s := &sqliteSource{db: db}
	if err := s.begin(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("database %q: %w", path, err), s.Close())
	}
	return s, nil
}

func (s *sqliteSource) begin(ctx context.Context) (err error) {
	if s.tx, err = s.db.BeginTx(ctx, nil); err != nil {
		return explainSQLite(err)
	}
	version, err := ledgerVersion(ctx, s.tx)
	if err == nil && version < ndjson.Schema {
		err = olderError(version)
	}
	return err
}

// olderError explains why a ledger cannot be exported before it is migrated.
func olderError(version int) error {
	return fmt.Errorf("its schema has version %d, this release exports %d: start addrspec serve of this release once, which migrates it", version, ndjson.Schema)
}

func (s *sqliteSource) lastID(ctx context.Context, t ndjson.Table) (last int64, err error) {
	err = s.tx.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = $1", t.Name).Scan(&last)
	return last, explainSQLite(err)
}

// each reads in the order of the key; SQLite compares text as bytes.
func (s *sqliteSource) each(ctx context.Context, t ndjson.Table, visit func([]any) error) error {
	rows, err := s.tx.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", strings.Join(t.Names(), ", "), t.Name, strings.Join(t.Key, ", ")))
	if err != nil {
		return explainSQLite(err)
	}
	defer rows.Close()
	values, into := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return explainSQLite(err)
		}
		if err := visit(values); err != nil {
			return err
		}
	}
	return explainSQLite(rows.Err())
}

// Close ends the transaction.
func (s *sqliteSource) Close() error {
	if s.tx != nil {
		_ = s.tx.Rollback()
	}
	return s.db.Close()
}
