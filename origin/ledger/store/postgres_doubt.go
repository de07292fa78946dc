package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// markGroup is part of each Marked transaction: the process's last number. The
// number that pg_xact_status goes by may be given anew after a crash that lost
// the transaction, or by a standby that took over; the mark is there only if
// the transaction was committed.
const (
	markGroup = `INSERT INTO writers (writer, commit_group) VALUES ($1, $2)
		ON CONFLICT (writer) DO UPDATE SET commit_group = excluded.commit_group, at = excluded.at`
	readMark = "SELECT EXISTS (SELECT FROM writers WHERE writer = $1 AND commit_group = $2)"

	// dropMarks forgets processes that have ended: no doubt lasts for a day.
	dropMarks = "DELETE FROM writers WHERE at < now() - INTERVAL '1 day'"
)

// committed asks what became of a transaction whose connection was lost
// between its commit and the answer: first whether it has ended, then its mark.
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

// endStale ends the server's side of the lost connection, where it has not
// noticed the loss and still holds its locks.
const terminateStale = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid = $1::xid8::xid"

// ended waits for the transaction's end and reports whether one of its number
// was committed.
func (t *pgTransaction) ended(ctx context.Context) (committed bool, err error) {
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
			return true, nil
		}
		if _, err := t.pool.Exec(ctx, terminateStale, t.id); err != nil {
			return false, err
		}
		time.Sleep(transactTimeout / 200)
	}
}
