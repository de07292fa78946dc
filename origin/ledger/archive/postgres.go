package archive

import (
	"context"
	"errors"
	"fmt"

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
	undefinedTable:  ErrNotLedger.Error(),
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
