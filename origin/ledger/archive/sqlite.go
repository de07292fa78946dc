package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/addrspec/addrspec/origin/ledger/archive/ndjson"
)

// ErrMissing is the error of reading a database that does not exist.
var ErrMissing = errors.New("there is no such file; give the ledger's path, as in --database sqlite:/var/lib/addrspec/addrspec.db")

// ErrNotLedger is the error of reading another database.
var ErrNotLedger = errors.New("it is not a ledger of addrspec")

// ErrNewer is the error of reading a ledger that a newer release has migrated.
var ErrNewer = errors.New("a newer release of addrspec has migrated it; use that release")

func sqlitePath(url string) (path string, ok bool) { return strings.CutPrefix(url, "sqlite:") }

// openFile opens an SQLite file that exists, with one connection. mode is "rw", or
// "ro" for a file that no server writes. pragmas are such as "query_only(1)".
func openFile(path, mode string, pragmas ...string) (*sql.DB, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, ErrMissing)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: it is not a file", path)
	}
	db, err := sql.Open("sqlite", fileURL(path, "mode="+mode, append([]string{"busy_timeout(5000)"}, pragmas...)...))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// fileURL returns the URI of a file, see https://www.sqlite.org/uri.html.
func fileURL(path, query string, pragmas ...string) string {
	for _, p := range pragmas {
		query += "&_pragma=" + p
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query
}

// A querier is a connection or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// ledgerVersion returns the version of a ledger's schema.
func ledgerVersion(ctx context.Context, db querier) (version int, err error) {
	var found int
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('accounts', 'keys', 'usage', 'plans')").Scan(&found)
	if err == nil {
		err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	}
	switch {
	case err != nil:
		return 0, explainSQLite(err)
	case found < 4 || version < 1:
		return 0, ErrNotLedger
	case version > ndjson.Schema:
		return 0, fmt.Errorf("%w (its schema has version %d, this release supports up to %d)", ErrNewer, version, ndjson.Schema)
	}
	return version, nil
}
