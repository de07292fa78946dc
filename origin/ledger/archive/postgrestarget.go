package archive

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/addrspec/addrspec/origin/ledger/archive/ndjson"
)

// A postgresTarget is a transaction that fills the tables with COPY.
type postgresTarget struct {
	conn *pgx.Conn
	tx   pgx.Tx
}

func openPostgresTarget(ctx context.Context, url string) (target, error) {
	conn, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	t := &postgresTarget{conn: conn}
	if err := t.begin(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("database: %w", explainPostgres(err)), t.Close())
	}
	return t, nil
}

// begin locks the accounts and what is deleted against other writers.
func (p *postgresTarget) begin(ctx context.Context) (err error) {
	if p.tx, err = p.conn.Begin(ctx); err != nil {
		return err
	}
	locked := append([]string{"accounts"}, rowsOfNewLedgers...)
	if _, err := p.tx.Exec(ctx, "LOCK TABLE "+strings.Join(locked, ", ")+" IN EXCLUSIVE MODE"); err != nil {
		return err
	}
	var accounts int
	if err := p.tx.QueryRow(ctx, "SELECT count(*) FROM accounts").Scan(&accounts); err != nil {
		return err
	}
	if accounts > 0 {
		return ErrNotEmpty
	}
	for _, name := range rowsOfNewLedgers {
		if _, err := p.tx.Exec(ctx, "DELETE FROM "+name); err != nil {
			return err
		}
	}
	return nil
}

// fill uses COPY, which also writes the IDs of identity columns.
func (p *postgresTarget) fill(ctx context.Context, t ndjson.Table, next func() ([]any, error)) error {
	rows := &copyRows{next: next}
	_, err := p.tx.CopyFrom(ctx, pgx.Identifier{t.Name}, t.Names(), rows)
	if rows.err != nil {
		return rows.err
	}
	return explainPostgres(err)
}

// copyRows implements [pgx.CopyFromSource].
type copyRows struct {
	next   func() ([]any, error)
	values []any
	err    error
}

func (c *copyRows) Next() bool {
	c.values, c.err = c.next()
	return c.values != nil
}

func (c *copyRows) Values() ([]any, error) { return c.values, nil }
func (c *copyRows) Err() error             { return c.err }

// setLastID restarts the sequence inside the transaction, as setval would not.
func (p *postgresTarget) setLastID(ctx context.Context, t ndjson.Table, last int64) error {
	_, err := p.tx.Exec(ctx, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s RESTART WITH %d", t.Name, t.Columns[0].Name, last+1))
	return explainPostgres(err)
}

func (p *postgresTarget) commit(ctx context.Context) error {
	return explainPostgres(p.tx.Commit(ctx))
}

// Close ends the connection, and with it a transaction that was not committed.
func (p *postgresTarget) Close() error { return p.conn.Close(context.Background()) }
