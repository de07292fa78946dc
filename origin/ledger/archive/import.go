package archive

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/addrspec/addrspec/origin/ledger/archive/ndjson"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// ErrNotEmpty is the error of an import into a ledger that has accounts.
var ErrNotEmpty = errors.New("the ledger has accounts already; import into a new database")

// A target writes a ledger in one transaction.
type target interface {
	// fill adds rows until next returns nil.
	fill(ctx context.Context, t ndjson.Table, next func() ([]any, error)) error
	// setLastID makes the table give out IDs after last.
	setLastID(ctx context.Context, t ndjson.Table, last int64) error
	// commit makes the rows durable. Close without commit leaves no row.
	commit(ctx context.Context) error
	io.Closer
}

// Import reads an export, which may be compressed with gzip, into the database at
// url. It creates the database's schema if there is none, and refuses a ledger that
// has accounts; plans are replaced. Unless it returns nil, the ledger is as empty as
// before.
func Import(ctx context.Context, url string, r io.Reader) (ndjson.Counts, error) {
	in, err := ndjson.Uncompressed(r)
	if err != nil {
		return nil, err
	}
	d := ndjson.NewDecoder(in)
	if err := d.Header(); err != nil {
		return nil, err
	}
	t, err := openTarget(ctx, url)
	if err != nil {
		return nil, err
	}
	err = importAll(ctx, t, d)
	if err == nil {
		err = t.commit(ctx)
	}
	return d.Rows, errors.Join(err, t.Close())
}

func openTarget(ctx context.Context, url string) (target, error) {
	s, err := store.Open(ctx, url, nil) // creates the schema
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	if path, ok := sqlitePath(url); ok {
		return openSQLiteTarget(ctx, path)
	}
	return openPostgresTarget(ctx, url)
}

func importAll(ctx context.Context, to target, d *ndjson.Decoder) error {
	for _, t := range ndjson.Tables {
		if err := d.Begin(t); err != nil {
			return err
		}
		if err := to.fill(ctx, t, func() ([]any, error) { return d.Row(t) }); err != nil {
			return explainRows(err, t, d.Line)
		}
		if t.Numbered {
			if err := to.setLastID(ctx, t, d.LastID); err != nil {
				return err
			}
		}
	}
	return d.End()
}

// explainRows adds the table to an error of the database.
func explainRows(err error, t ndjson.Table, line int) error {
	if errors.Is(err, ndjson.ErrDamaged) {
		return err
	}
	return fmt.Errorf("table %s, up to line %d: the database refused the rows: %w", t.Name, line, err)
}
