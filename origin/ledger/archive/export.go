package archive

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger/archive/ndjson"
)

// A source reads one snapshot of a ledger.
type source interface {
	// lastID returns the highest ID that a numbered table has given out.
	lastID(ctx context.Context, t ndjson.Table) (int64, error)
	// each calls visit for every row, in the order of the primary key.
	each(ctx context.Context, t ndjson.Table, visit func([]any) error) error
	io.Closer
}

// Export writes the ledger of the database at url to w, from one snapshot. A server
// may charge meanwhile. Its memory does not depend on the size of the ledger.
func Export(ctx context.Context, url string, w io.Writer) (ndjson.Counts, error) {
	s, err := openSource(ctx, url)
	if err != nil {
		return nil, err
	}
	e := ndjson.NewEncoder(w)
	err = exportAll(ctx, s, e)
	return e.Rows, errors.Join(err, s.Close())
}

func openSource(ctx context.Context, url string) (source, error) {
	if path, ok := sqlitePath(url); ok {
		return openSQLiteSource(ctx, path)
	}
	if !strings.HasPrefix(url, "postgres:") && !strings.HasPrefix(url, "postgresql:") {
		return nil, errors.New(`the database's URL must be "sqlite:PATH" or "postgres://USER@HOST/NAME"`)
	}
	return openPostgresSource(ctx, url)
}

func exportAll(ctx context.Context, s source, e *ndjson.Encoder) error {
	if err := e.Header(); err != nil {
		return err
	}
	for _, t := range ndjson.Tables {
		if err := exportTable(ctx, s, e, t); err != nil {
			return err
		}
	}
	return e.End()
}

// exportTable reads last_id after the snapshot was taken, so it is at least the ID
// of every row.
func exportTable(ctx context.Context, s source, e *ndjson.Encoder, t ndjson.Table) (err error) {
	var last int64
	if t.Numbered {
		if last, err = s.lastID(ctx, t); err != nil {
			return err
		}
	}
	if err := e.Begin(t, last); err != nil {
		return err
	}
	return s.each(ctx, t, func(values []any) error { return e.Row(t, values) })
}
