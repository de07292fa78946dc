package archive

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// ErrNotEmpty is the error of an import into a ledger that has accounts.
var ErrNotEmpty = errors.New("the ledger has accounts already; import into a new database")

// A target writes a ledger in one transaction.
type target interface {
	// fill adds rows until next returns nil.
	fill(ctx context.Context, t table, next func() ([]any, error)) error
	// setLastID makes the table give out IDs after last.
	setLastID(ctx context.Context, t table, last int64) error
	// commit makes the rows durable. Close without commit leaves no row.
	commit(ctx context.Context) error
	io.Closer
}

// Import reads an export, which may be compressed with gzip, into the database at
// url. It creates the database's schema if there is none, and refuses a ledger that
// has accounts; plans are replaced. Unless it returns nil, the ledger is as empty as
// before.
func Import(ctx context.Context, url string, r io.Reader) (Counts, error) {
	in, err := uncompressed(r)
	if err != nil {
		return nil, err
	}
	d := newDecoder(in)
	if err := d.header(); err != nil {
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
	return d.rows, errors.Join(err, t.Close())
}

// uncompressed recognises gzip by its first two bytes (RFC 1952 section 2.3.1).
func uncompressed(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	start, err := in.Peek(2)
	if err == nil && start[0] == 0x1f && start[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("line 1: %w: %w", err, ErrDamaged)
		}
		return z, nil
	}
	return in, nil
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

func importAll(ctx context.Context, to target, d *decoder) error {
	for _, t := range tables {
		if err := d.begin(t); err != nil {
			return err
		}
		if err := to.fill(ctx, t, func() ([]any, error) { return d.row(t) }); err != nil {
			return explainRows(err, t, d.number)
		}
		if t.numbered {
			if err := to.setLastID(ctx, t, d.lastID); err != nil {
				return err
			}
		}
	}
	return d.end()
}

// explainRows adds the table to an error of the database.
func explainRows(err error, t table, line int) error {
	if errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("table %s, up to line %d: the database refused the rows: %w", t.name, line, err)
}
