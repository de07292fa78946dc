package archive

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/addrspec/addrspec/origin/ledger/archive/ndjson"
)

// A postgresSource is a transaction whose queries all see the snapshot of the first
// one, since it is REPEATABLE READ (PostgreSQL's manual, section 13.2.2).
type postgresSource struct {
	conn *pgx.Conn
	tx   pgx.Tx
}

func openPostgresSource(ctx context.Context, url string) (source, error) {
	conn, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	s := &postgresSource{conn: conn}
	if err := s.begin(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("database: %w", explainPostgres(err)), s.Close())
	}
	return s, nil
}

func (s *postgresSource) begin(ctx context.Context) (err error) {
	s.tx, err = s.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	var version int
	if err := s.tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM schema_version").Scan(&version); err != nil {
		return err
	}
	switch {
	case version > ndjson.Schema:
		return fmt.Errorf("%w (its schema has version %d, this release supports up to %d)", ErrNewer, version, ndjson.Schema)
	case version < ndjson.Schema:
		return olderError(version)
	}
	return nil
}

// lastID reads the sequence behind the identity column. A sequence is outside
// transactions, so it may be ahead of the snapshot.
func (s *postgresSource) lastID(ctx context.Context, t ndjson.Table) (last int64, err error) {
	err = s.tx.QueryRow(ctx, fmt.Sprintf("SELECT last_value - (NOT is_called)::int FROM %s_%s_seq", t.Name, t.Columns[0].Name)).Scan(&last)
	return last, explainPostgres(err)
}

// each reads in the order of the key, and compares text as bytes whatever the
// database's locale is.
func (s *postgresSource) each(ctx context.Context, t ndjson.Table, visit func([]any) error) error {
	var order []string
	for _, name := range t.Key {
		if t.Kind(name) == ndjson.Text {
			name += ` COLLATE "C"`
		}
		order = append(order, name)
	}
	rows, err := s.tx.Query(ctx, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", strings.Join(t.Names(), ", "), t.Name, strings.Join(order, ", ")))
	if err != nil {
		return explainPostgres(err)
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		if err := visit(values); err != nil {
			return err
		}
	}
	return explainPostgres(rows.Err())
}

// Close ends the connection, and with it the transaction.
func (s *postgresSource) Close() error { return s.conn.Close(context.Background()) }
