package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// committed asks what became of a transaction whose connection was lost
// between its commit and the answer.
func (t *pgTransaction) committed(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, transaction)
	defer cancel()
	err = t.persist(ctx, func() error {
		done, err = t.fate(ctx)
		return err
	})
	return done, err
}

// endStale ends the server's side of the lost connection, where it has not
// noticed the loss and still holds its locks.
const endStale = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid = $1::xid8::xid"

// fate waits for the transaction's end.
func (t *pgTransaction) fate(ctx context.Context) (committed bool, err error) {
	for {
		var status *string // null: so long ago that it is forgotten
		err := t.pool.QueryRow(ctx, "SELECT pg_xact_status($1::xid8)", t.id).Scan(&status)
		var e *pgconn.PgError
		switch {
		case errors.As(err, &e) && e.Code == invalidParameter:
			return false, nil // in the future: a standby took over that never saw it
		case err != nil:
			return false, err
		case status == nil || *status == "aborted":
			return false, nil
		case *status == "committed":
			return t.isMarked(ctx)
		}
		if _, err := t.pool.Exec(ctx, endStale, t.id); err != nil {
			return false, err
		}
		time.Sleep(transaction / 200)
	}
}

// markBatch is part of each of the writer's transactions. The number that
// pg_xact_status goes by may have been given anew after a crash that lost the
// transaction; the mark is there only if it was committed.
const markBatch = `INSERT INTO batches (writer, batch) VALUES ($1, $2)
	ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, at = excluded.at`

// isMarked reports whether the process's last batch is this one.
func (t *pgTransaction) isMarked(ctx context.Context) (marked bool, err error) {
	err = t.pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM batches WHERE writer = $1 AND batch = $2)", t.writer, t.batch).Scan(&marked)
	return marked, err
}
