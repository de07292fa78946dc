package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Transact takes at most transactTimeout and ignores the cancellation of ctx, so
// that its outcome is known.
func (p *postgres) Transact(ctx context.Context, t store.Transaction) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), transactTimeout)
	defer cancel()
	var tx *transaction
	err := p.retryOnce(ctx, func() (err error) {
		tx, err = p.begin(ctx, t)
		return err
	})
	if err != nil {
		return explain(err)
	}
	defer tx.conn.Release() // closes the connection if the transaction is still open
	writes, err := t.Decide(tx.now)
	if err == nil && len(writes) > 0 {
		err = tx.commit(ctx, writes)
		if err == nil || !isRolledBack(err) {
			return err
		}
	}
	_, _ = tx.conn.Exec(ctx, "ROLLBACK")
	return err
}

// retryOnce runs do again if the connection was lost, so that a restart of the
// database causes no error. do must not write.
func (p *postgres) retryOnce(ctx context.Context, do func() error) error {
	err := do()
	if err == nil || ctx.Err() != nil || isRolledBack(err) {
		return err
	}
	p.pool.Reset()
	return do()
}

type transaction struct {
	*postgres
	conn *pgxpool.Conn
	now  time.Time
	id   string // the server's transaction ID

	group int64 // its mark; 0 if it is not Marked
}

// clock is the server's time in nanoseconds.
const clock = "(extract(epoch FROM clock_timestamp()) * 1000000000)::bigint"

func (p *postgres) begin(ctx context.Context, t store.Transaction) (*transaction, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	tx := &transaction{postgres: p, conn: conn}
	if t.Marked {
		p.groups++
		tx.group = p.groups
	}
	batch := &pgx.Batch{}
	batch.Queue("BEGIN ISOLATION LEVEL READ COMMITTED") // so that reads see what was committed while waiting for locks
	if t.Reads != nil {
		p.queue(batch, t.Reads(), new(int))
	}
	// The time is read last, because it must include the wait for the locks.
	batch.Queue("SELECT " + clock + ", pg_current_xact_id()::text").QueryRow(func(r pgx.Row) error {
		var ns int64
		err := r.Scan(&ns, &tx.id)
		tx.now = time.Unix(0, ns)
		if p.clock != nil {
			tx.now = p.clock()
		}
		return err
	})
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		if isRolledBack(err) {
			_, _ = conn.Exec(ctx, "ROLLBACK")
		}
		conn.Release()
		return nil, err
	}
	return tx, nil
}

// commit writes and commits. If the connection is lost before the server
// confirms, it returns an *InDoubt.
func (t *transaction) commit(ctx context.Context, writes []store.Statement) error {
	batch, done := &pgx.Batch{}, 0
	t.queue(batch, writes, &done)
	if t.group > 0 {
		batch.Queue(markGroup, t.writer, t.group)
	}
	batch.Queue("COMMIT")
	err := t.conn.SendBatch(ctx, batch).Close()
	if err != nil && !isRolledBack(err) {
		return &store.InDoubt{Err: err, Committed: t.committed}
	}
	err = explain(err)
	if locked, ok := errors.AsType[*store.Locked](err); ok && done < len(writes) {
		locked.Account = writes[done].Account
	}
	return err
}

func (p *postgres) queue(batch *pgx.Batch, list []store.Statement, done *int) {
	for _, st := range list {
		batch.Queue(p.queries[st.Name], st.Args...).Query(func(rows pgx.Rows) error {
			err := scanAll(rows, st.Scan)
			if err == nil {
				*done++
			}
			return err
		})
	}
}

func scanAll(rows pgx.Rows, scan func(store.Row) error) error {
	defer rows.Close()
	for rows.Next() {
		if scan == nil {
			continue
		}
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

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

// terminateStale ends the server process of the lost connection, which may not
// have noticed the loss and still have its locks.
const terminateStale = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid = $1::xid8::xid"

// committed reports whether a transaction was committed that lost its connection
// during COMMIT. It waits until the transaction has ended, then reads the mark.
func (t *transaction) committed(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, transactTimeout)
	defer cancel()
	err = t.retryOnce(ctx, func() error {
		for {
			var status *string // null if the server no longer knows the ID
			err := t.pool.QueryRow(ctx, "SELECT pg_xact_status($1::xid8)", t.id).Scan(&status)
			switch {
			case sqlState(err) == invalidParameter:
				return nil // a future ID: a standby took over that never received the transaction
			case err != nil:
				return err
			case status == nil || *status == "aborted":
				return nil
			case *status == "committed" && t.group == 0:
				done = true
				return nil
			case *status == "committed":
				return t.pool.QueryRow(ctx, readMark, t.writer, t.group).Scan(&done)
			}
			if _, err := t.pool.Exec(ctx, terminateStale, t.id); err != nil {
				return err
			}
			time.Sleep(transactTimeout / 200)
		}
	})
	return done, err
}
