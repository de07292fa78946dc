package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// transact is bounded in time and goes on when its caller gives up, so that
// what became of it is known.
func (p *postgres) transact(ctx context.Context, reads func() []statement, decide func(time.Time) ([]statement, error)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), transaction)
	defer cancel()
	t, err := p.begin(ctx, reads)
	if err != nil {
		return explainRefusal(err)
	}
	defer t.conn.Release() // closes it where the transaction is still open
	writes, err := decide(t.now)
	if err != nil || len(writes) == 0 {
		_, _ = t.conn.Exec(ctx, "ROLLBACK")
		return err
	}
	return t.commit(ctx, writes)
}

// A pgTransaction has begun and read.
type pgTransaction struct {
	*postgres
	conn *pgxpool.Conn
	now  time.Time
	id   string

	batch int64 // its number, or 0 of one that nobody asks about
}

// identify tells a transaction's time and its number, by which its fate can be
// asked when the answer to its commit is lost.
const identify = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint, pg_current_xact_id()::text"

func (p *postgres) begin(ctx context.Context, reads func() []statement) (t *pgTransaction, err error) {
	err = p.persist(ctx, func() error {
		t, err = p.tryBegin(ctx, reads)
		return err
	})
	return t, err
}

// persist does what changes nothing once more when the connection turns out
// to be cut: so a restart of the database is noticed.
func (p *postgres) persist(ctx context.Context, do func() error) error {
	err := do()
	if err == nil || ctx.Err() != nil || isRefused(err) {
		return err
	}
	p.pool.Reset()
	return do()
}

func (p *postgres) tryBegin(ctx context.Context, reads func() []statement) (*pgTransaction, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	t := &pgTransaction{postgres: p, conn: conn}
	list := reads()
	if len(list) > 0 { // the writer's, which runs one at a time
		p.batches++
		t.batch = p.batches
	}
	batch := &pgx.Batch{}
	batch.Queue("BEGIN ISOLATION LEVEL READ COMMITTED") // each read sees what the locks waited for
	batch.Queue(identify).QueryRow(t.scanIdentity)
	p.queue(batch, list)
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		conn.Release()
		return nil, err
	}
	return t, nil
}

func (t *pgTransaction) scanIdentity(r pgx.Row) error {
	var ns int64
	err := r.Scan(&ns, &t.id)
	if t.now = time.Unix(0, ns); t.clock != nil {
		t.now = t.clock()
	}
	return err
}

// commit leaves a doubt when the connection is lost before the answer comes.
func (t *pgTransaction) commit(ctx context.Context, writes []statement) error {
	batch := &pgx.Batch{}
	t.queue(batch, writes)
	if t.batch > 0 {
		batch.Queue(markBatch, t.writer, t.batch)
	}
	batch.Queue("COMMIT")
	err := t.conn.SendBatch(ctx, batch).Close()
	if err == nil || isRefused(err) {
		return explainRefusal(err)
	}
	return &inDoubt{err, t.committed}
}

func (p *postgres) queue(batch *pgx.Batch, list []statement) {
	for _, st := range list {
		queued := batch.Queue(p.queries[st.name], st.args...)
		if st.scan != nil {
			queued.Query(func(rows pgx.Rows) error { return scanAll(rows, st.scan) })
		}
	}
}

func scanAll(rows pgx.Rows, scan func(row) error) error {
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
