package archive

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// connect opens one connection. The pool's parser accepts the pool_ parameters that
// a server's URL may have. A copy may take longer than the server's usual limits.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the database's URL: %w", err) // pgx leaves the password out
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return nil, err
	}
	_, err = conn.Exec(ctx, "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '5s'; SET synchronous_commit = on")
	if err != nil {
		return nil, errors.Join(explainPostgres(err), conn.Close(ctx))
	}
	return conn, nil
}

// SQLSTATE codes, see PostgreSQL's manual, appendix A.
const (
	undefinedTable  = "42P01"
	lockUnavailable = "55P03"
	diskFull        = "53100"
)

// postgresAdvice is what an operator can do about an error, by SQLSTATE.
var postgresAdvice = map[string]string{
	undefinedTable:  errNotLedger.Error(),
	lockUnavailable: "a server writes to the ledger; stop it and try again",
	diskFull:        "the database's disk is full; free some space and try again",
}

// explainPostgres adds advice to an error of PostgreSQL, and leaves out its detail,
// which quotes values of the row.
func explainPostgres(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return err
	}
	short := &pgconn.PgError{Severity: e.Severity, Code: e.Code, Message: e.Message, TableName: e.TableName, ConstraintName: e.ConstraintName}
	if what := postgresAdvice[e.Code]; what != "" {
		return fmt.Errorf("%s (%w)", what, short)
	}
	return short
}

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
	case version > schemaVersion:
		return fmt.Errorf("%w (its schema has version %d, this release supports up to %d)", errNewer, version, schemaVersion)
	case version < schemaVersion:
		return olderError(version)
	}
	return nil
}

// lastID reads the sequence behind the identity column. A sequence is outside
// transactions, so it may be ahead of the snapshot.
func (s *postgresSource) lastID(ctx context.Context, t table) (last int64, err error) {
	err = s.tx.QueryRow(ctx, fmt.Sprintf("SELECT last_value - (NOT is_called)::int FROM %s_%s_seq", t.Name, t.Columns[0].Name)).Scan(&last)
	return last, explainPostgres(err)
}

// each reads in the order of the key, and compares text as bytes whatever the
// database's locale is.
func (s *postgresSource) each(ctx context.Context, t table, visit func([]any) error) error {
	var order []string
	for _, name := range t.Key {
		if t.kindOf(name) == text {
			name += ` COLLATE "C"`
		}
		order = append(order, name)
	}
	rows, err := s.tx.Query(ctx, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", strings.Join(t.names(), ", "), t.Name, strings.Join(order, ", ")))
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
		return errNotEmpty
	}
	for _, name := range rowsOfNewLedgers {
		if _, err := p.tx.Exec(ctx, "DELETE FROM "+name); err != nil {
			return err
		}
	}
	return nil
}

// fill uses COPY, which also writes the IDs of identity columns.
func (p *postgresTarget) fill(ctx context.Context, t table, next func() ([]any, error)) error {
	rows := &copyRows{next: next}
	_, err := p.tx.CopyFrom(ctx, pgx.Identifier{t.Name}, t.names(), rows)
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
func (p *postgresTarget) setLastID(ctx context.Context, t table, last int64) error {
	_, err := p.tx.Exec(ctx, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s RESTART WITH %d", t.Name, t.Columns[0].Name, last+1))
	return explainPostgres(err)
}

func (p *postgresTarget) commit(ctx context.Context) error {
	return explainPostgres(p.tx.Commit(ctx))
}

// Close ends the connection, and with it a transaction that was not committed.
func (p *postgresTarget) Close() error { return p.conn.Close(context.Background()) }
