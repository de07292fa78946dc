package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgres is a ledger that several replicas share. The rows of the accounts
// concerned are locked while a batch is decided, so two replicas that charge
// one account take turns. A batch takes two round trips: begin and read, write
// and commit.
type postgres struct {
	pool    *pgxpool.Pool
	queries map[string]string
	clock   func() time.Time // nil: the database's, which the replicas share
}

// Bounds of a stay in the database.
const (
	transaction = time.Second      // until a batch is given up
	starting    = 30 * time.Second // until the first connection and the migration are given up
)

// identify tells a transaction's time and its number, by which its fate can be
// asked when the answer to its commit is lost.
const identify = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint, pg_current_xact_id()::text"

func openPostgres(ctx context.Context, url string, clock func() time.Time) (store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the database's URL: %w", err) // pgx leaves the password out
	}
	config.AfterConnect = prepareSession
	ctx, cancel := context.WithTimeout(ctx, starting)
	defer cancel()
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	p := &postgres{pool: pool, queries: catalogue("postgres"), clock: clock}
	if err := p.migrate(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("database: %w", explainRefusal(err))
	}
	return p, nil
}

// prepareSession makes commits wait for the disk on a server where they would
// not (stricter settings stay), and bounds how long a replica that vanished
// can keep its locks and how long the others wait for them.
func prepareSession(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, fmt.Sprintf(`
		SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
		SET idle_in_transaction_session_timeout = %[1]d;
		SET lock_timeout = %[2]d`, transaction.Milliseconds(), transaction.Milliseconds()/2))
	return err
}

// migrate holds a lock of this program's while it looks at the version, so of
// replicas that start at once the first does the work.
func (p *postgres) migrate(ctx context.Context) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		const begin = `SET LOCAL lock_timeout = 0; -- another's migration may take its time
			SELECT pg_advisory_xact_lock(1634953055); -- "ask_" in ASCII
			CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)`
		if _, err := tx.Exec(ctx, begin); err != nil {
			return err
		}
		var version int
		if err := tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM schema_version").Scan(&version); err != nil {
			return err
		}
		steps, err := pending(migrations("postgres"), version)
		if err != nil {
			return err
		}
		for i, step := range steps {
			if _, err := tx.Exec(ctx, step); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "INSERT INTO schema_version VALUES ($1)", version+i+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// transact is bounded in time and goes on when its caller gives up, so that
// what became of it is known.
func (p *postgres) transact(ctx context.Context, reads []statement, decide func(time.Time) ([]statement, error)) error {
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
}

func (p *postgres) begin(ctx context.Context, reads []statement) (t *pgTransaction, err error) {
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

func (p *postgres) tryBegin(ctx context.Context, reads []statement) (*pgTransaction, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	t := &pgTransaction{postgres: p, conn: conn}
	batch := &pgx.Batch{}
	batch.Queue("BEGIN ISOLATION LEVEL READ COMMITTED") // each read sees what the locks waited for
	batch.Queue(identify).QueryRow(t.scanIdentity)
	p.queue(batch, reads)
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

func (p *postgres) query(ctx context.Context, st statement) error {
	return explainRefusal(p.persist(ctx, func() error {
		rows, err := p.pool.Query(ctx, p.queries[st.name], st.args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		return scanAll(rows, st.scan)
	}))
}

func (p *postgres) ping(ctx context.Context) error { return explainRefusal(p.pool.Ping(ctx)) }

func (p *postgres) close() error {
	p.pool.Close()
	return nil
}
