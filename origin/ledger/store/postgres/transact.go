package postgres

import (
	"context"
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
	tx, err := p.begin(ctx, t)
	if err != nil {
		return explainPostgres(err)
	}
	defer tx.conn.Release() // closes the connection if the transaction is still open
	writes, err := t.Decide(tx.now)
	if err != nil || len(writes) == 0 {
		_, _ = tx.conn.Exec(ctx, "ROLLBACK")
		return err
	}
	return tx.commit(ctx, writes)
}

// A pgTransaction is a transaction that has begun and read.
type pgTransaction struct {
	*postgres
	conn *pgxpool.Conn
	now  time.Time
	id   string // the server's transaction ID

	group int64 // its mark; 0 if it is not Marked
}

// identify reads the time and the transaction ID. It runs after the reads: a time
// read before them would not include the wait for their locks.
const (
	identify = "SELECT " + clock + ", pg_current_xact_id()::text"
	clock    = "(extract(epoch FROM clock_timestamp()) * 1000000000)::bigint"
)

func (p *postgres) begin(ctx context.Context, t store.Transaction) (tx *pgTransaction, err error) {
	err = p.retryOnce(ctx, func() error {
		tx, err = p.tryBegin(ctx, t)
		return err
	})
	return tx, err
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

func (p *postgres) tryBegin(ctx context.Context, t store.Transaction) (*pgTransaction, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	tx := &pgTransaction{postgres: p, conn: conn}
	if t.Marked {
		p.groups++
		tx.group = p.groups
	}
	batch := &pgx.Batch{}
	batch.Queue("BEGIN ISOLATION LEVEL READ COMMITTED") // so that reads see what was committed while waiting for locks
	if t.Reads != nil {
		p.queue(batch, t.Reads())
	}
	batch.Queue(identify).QueryRow(tx.scanIdentity)
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		conn.Release()
		return nil, err
	}
	return tx, nil
}

func (t *pgTransaction) scanIdentity(r pgx.Row) error {
	var ns int64
	err := r.Scan(&ns, &t.id)
	if t.now = time.Unix(0, ns); t.clock != nil {
		t.now = t.clock()
	}
	return err
}

// commit writes and commits. If the connection is lost before the server
// confirms, it returns an *InDoubt.
func (t *pgTransaction) commit(ctx context.Context, writes []store.Statement) error {
	batch := &pgx.Batch{}
	t.queue(batch, writes)
	if t.group > 0 {
		batch.Queue(markGroup, t.writer, t.group)
	}
	batch.Queue("COMMIT")
	err := t.conn.SendBatch(ctx, batch).Close()
	if err == nil || isRolledBack(err) {
		return explainPostgres(err)
	}
	return &store.InDoubt{Err: err, Committed: t.committed}
}

func (p *postgres) queue(batch *pgx.Batch, list []store.Statement) {
	for _, st := range list {
		queued := batch.Queue(p.queries[st.Name], st.Args...)
		if st.Scan != nil {
			queued.Query(func(rows pgx.Rows) error { return scanAll(rows, st.Scan) })
		}
	}
}

func scanAll(rows pgx.Rows, scan func(store.Row) error) error {
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
