package ledger

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

var errInProgress = errors.New("a transaction whose connection was lost has not ended yet")

// committed asks what became of a transaction whose connection was lost
// between its commit and the answer.
func (t *pgTransaction) committed(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, transaction)
	defer cancel()
	var status *string // null: so long ago that it is forgotten
	err := t.persist(ctx, func() error {
		return t.pool.QueryRow(ctx, "SELECT pg_xact_status($1::xid8)", t.id).Scan(&status)
	})
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e) && e.Code == invalidParameter:
		return false, nil // in the future: a standby took over that never saw it
	case err != nil:
		return false, err
	case status != nil && *status == "in progress":
		return false, errInProgress
	}
	return status != nil && *status == "committed", nil
}
