package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger/archive/ndjson"
)

// A sqliteTarget is a write transaction on an SQLite file.
type sqliteTarget struct {
	db *sql.DB
	tx *sql.Tx
}

// openSQLiteTarget begins the transaction with the write lock. FULL makes the
// commit wait for the disk.
func openSQLiteTarget(ctx context.Context, path string) (target, error) {
	db, err := openFile(path, "rw&_txlock=immediate", "synchronous(FULL)", "foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	t := &sqliteTarget{db: db}
	if err := t.begin(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("database %q: %w", path, err), t.Close())
	}
	return t, nil
}

func (s *sqliteTarget) begin(ctx context.Context) (err error) {
	if s.tx, err = s.db.BeginTx(ctx, nil); err != nil {
		return explainSQLite(err)
	}
	var accounts int
	if err := s.tx.QueryRowContext(ctx, "SELECT count(*) FROM accounts").Scan(&accounts); err != nil {
		return explainSQLite(err)
	}
	if accounts > 0 {
		return ErrNotEmpty
	}
	for _, name := range rowsOfNewLedgers {
		if _, err := s.tx.ExecContext(ctx, "DELETE FROM "+name); err != nil {
			return explainSQLite(err)
		}
	}
	return nil
}

// rowsOfNewLedgers are the tables that can have rows while there is no account: the
// plans that the migration inserts, and what visitors of the sign-in page leave.
var rowsOfNewLedgers = []string{"plans", "challenges", "attempts"}

func (s *sqliteTarget) fill(ctx context.Context, t ndjson.Table, next func() ([]any, error)) error {
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.Columns)), ", ")
	insert, err := s.tx.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", t.Name, strings.Join(t.Names(), ", "), marks))
	if err != nil {
		return explainSQLite(err)
	}
	defer insert.Close()
	for {
		values, err := next()
		if err != nil || values == nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return explainSQLite(err)
		}
	}
}

// setLastID sets the counter of AUTOINCREMENT (https://www.sqlite.org/autoinc.html).
// A table that has given out no ID has no row there.
func (s *sqliteTarget) setLastID(ctx context.Context, t ndjson.Table, last int64) error {
	_, err := s.tx.ExecContext(ctx, "DELETE FROM sqlite_sequence WHERE name = $1", t.Name)
	if err == nil && last > 0 {
		_, err = s.tx.ExecContext(ctx, "INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)", t.Name, last)
	}
	return explainSQLite(err)
}

func (s *sqliteTarget) commit(context.Context) error { return explainSQLite(s.tx.Commit()) }

// Close ends the transaction.
func (s *sqliteTarget) Close() error {
	if s.tx != nil {
		_ = s.tx.Rollback() // an error after commit
	}
	return s.db.Close()
}
