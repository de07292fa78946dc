package ledger

import (
	"context"
	"crypto/rand"
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
	reading chan struct{}    // holds a place for each query beside the writer

	writer  string // names this process in the table of batches
	batches int64  // begun so far
}

// Bounds of a stay in the database.
const (
	transaction = time.Second      // until a batch is given up
	starting    = 30 * time.Second // until the first connection and the migration are given up
)

func openPostgres(ctx context.Context, url string, clock func() time.Time) (store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the database's URL: %w", err) // pgx leaves the password out
	}
	config.AfterConnect = prepareSession
	config.MaxConns = max(config.MaxConns, readers+2) // the writer and an operator never wait for readers
	ctx, cancel := context.WithTimeout(ctx, starting)
	defer cancel()
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	p := &postgres{pool: pool, queries: catalogue("postgres"), clock: clock, reading: make(chan struct{}, readers), writer: rand.Text()}
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
		_, err = tx.Exec(ctx, forgetWriters)
		return err
	})
}

// forgetWriters drops the marks of processes that have ended: none is in doubt
// about a batch for a day.
const forgetWriters = "DELETE FROM batches WHERE at < now() - INTERVAL '1 day'"

func (p *postgres) query(ctx context.Context, st statement) error {
	select {
	case p.reading <- struct{}{}:
		defer func() { <-p.reading }()
	case <-ctx.Done():
		return ctx.Err()
	}
	rows, err := p.pool.Query(ctx, p.queries[st.name], st.args...)
	if err != nil {
		return explainRefusal(err)
	}
	defer rows.Close()
	return explainRefusal(scanAll(rows, st.scan))
}

func (p *postgres) ping(ctx context.Context) error {
	var plans int
	return p.query(ctx, statement{name: "ping", scan: func(r row) error { return r.Scan(&plans) }})
}

func (p *postgres) close() error {
	p.pool.Close()
	return nil
}
