package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// markGroup is part of each Marked transaction. It writes the number of the
// process's last commit group, its mark. The transaction ID that pg_xact_status
// takes does not suffice: after a crash that lost the transaction, or on a standby
// that took over, another transaction may get the same ID. The mark exists only if
// the transaction was committed.
const (
	markGroup = `INSERT INTO writers (writer, commit_group) VALUES ($1, $2)
		ON CONFLICT (writer) DO UPDATE SET commit_group = excluded.commit_group, at = excluded.at`
	readMark = "SELECT EXISTS (SELECT FROM writers WHERE writer = $1 AND commit_group = $2)"

	// dropMarks deletes the marks of processes that have ended: no transaction is
	// in doubt for a day.
	dropMarks = "DELETE FROM writers WHERE at < now() - INTERVAL '1 day'"
)

// committed reports whether a transaction was committed that lost its connection
// during COMMIT. It waits until the transaction has ended, then reads the mark.
func (t *pgTransaction) committed(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, transactTimeout)
	defer cancel()
	err = t.retryOnce(ctx, func() error {
		if done, err = t.ended(ctx); err == nil && done && t.group > 0 {
			err = t.pool.QueryRow(ctx, readMark, t.writer, t.group).Scan(&done)
		}
		return err
	})
	return done, err
}

// terminateStale ends the server process of the lost connection, which may not
// have noticed the loss and still have its locks.
const terminateStale = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid = $1::xid8::xid"

// ended waits until the transaction has ended and reports whether one with its ID
// was committed.
func (t *pgTransaction) ended(ctx context.Context) (committed bool, err error) {
	for {
		var status *string // null if the server no longer knows the ID
		err := t.pool.QueryRow(ctx, "SELECT pg_xact_status($1::xid8)", t.id).Scan(&status)
		var e *pgconn.PgError
		switch {
		case errors.As(err, &e) && e.Code == invalidParameter:
			return false, nil // a future ID: a standby took over that never received the transaction
		case err != nil:
			return false, err
		case status == nil || *status == "aborted":
			return false, nil
		case *status == "committed":
			return true, nil
		}
		if _, err := t.pool.Exec(ctx, terminateStale, t.id); err != nil {
			return false, err
		}
		time.Sleep(transactTimeout / 200)
	}
}
