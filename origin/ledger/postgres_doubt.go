package ledger

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// committed asks what became of a transaction whose connection was lost
// between its commit and the answer.
func (t *pgTransaction) committed(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, transaction)
	defer cancel()
	var status *string // null: so long ago that it is forgotten
	err := t.pool.QueryRow(ctx, "SELECT pg_xact_status($1::xid8)", t.id).Scan(&status)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == invalidParameter {
		return false, nil // not reached yet: a standby took over that never saw it
	}
	if err != nil {
		return false, err
	}
	if status != nil && *status == "in progress" {
		return false, errors.New("a transaction whose connection was lost has not ended yet")
	}
	return status != nil && *status == "committed", nil
}

// SQLSTATE codes, see PostgreSQL's manual, appendix A.
const (
	invalidParameter = "22023"
	classShutdown    = "57P" // the server stops, or somebody ended the connection
)

// isShutdown reports whether the server took its leave, which can happen after
// it has committed and before it has said so.
func isShutdown(e *pgconn.PgError) bool { return len(e.Code) == 5 && e.Code[:3] == classShutdown }
