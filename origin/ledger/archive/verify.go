package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// A Summary is what an operator may want to know of an SQLite ledger.
type Summary struct {
	Schema   int
	Accounts int
	Keys     int
	Points   int64     // of the usage history
	LastDay  time.Time // of the usage history; zero if it is empty
}

// Verify checks that the file at path is a ledger of this or an earlier release and
// is not damaged. It creates and changes nothing.
func Verify(ctx context.Context, path string) (s Summary, err error) {
	db, err := openFile(path, "ro", "query_only(1)")
	if err != nil {
		return s, err
	}
	defer db.Close()
	err = db.PingContext(ctx)
	if err == nil {
		s, err = verify(ctx, db)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, explainSQLite(err))
	}
	return s, nil
}

func verify(ctx context.Context, db *sql.DB) (s Summary, err error) {
	if s.Schema, err = ledgerVersion(ctx, db); err != nil {
		return s, err
	}
	if err := checkIntegrity(ctx, db); err != nil {
		return s, err
	}
	var day int64
	err = db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM keys),
		(SELECT coalesce(sum(points), 0) FROM usage), (SELECT coalesce(max(day), 0) FROM usage)`).Scan(&s.Accounts, &s.Keys, &s.Points, &day)
	if day > 0 {
		s.LastDay = time.Unix(0, 0).UTC().AddDate(0, 0, int(day))
	}
	return s, err
}

// ErrCorrupt is the error of a ledger whose pages or rows contradict each other.
var ErrCorrupt = errors.New("the file is damaged; use another backup")

// checkIntegrity reads all pages, and looks up all references between rows
// (https://www.sqlite.org/pragma.html).
func checkIntegrity(ctx context.Context, db *sql.DB) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w (%s)", ErrCorrupt, verdict)
	}
	var orphans int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM pragma_foreign_key_check").Scan(&orphans); err != nil {
		return err
	}
	if orphans > 0 {
		return fmt.Errorf("%w (%d rows refer to rows that do not exist)", ErrCorrupt, orphans)
	}
	return nil
}
