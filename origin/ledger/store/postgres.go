package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgres is a database that several replicas share. The rows concerned are
// locked while a transaction decides, so two replicas that charge one account
// take turns. A transaction takes two round trips: begin and read, write and
// commit.
type postgres struct {
	pool    *pgxpool.Pool
	queries map[string]string
	clock   func() time.Time // nil: the database's, which the replicas share
	readers chan struct{}    // holds a place for each query beside the writer

	writer string // names this process in the table of marks
	groups int64  // Marked transactions begun so far
}

// Bounds of a stay in the database.
const (
	transactTimeout = time.Second      // until a transaction is given up
	openTimeout     = 30 * time.Second // until the first connection and the migration are given up
)

func openPostgres(ctx context.Context, url string, clock func() time.Time) (Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the database's URL: %w", err) // pgx leaves the password out
	}
	config.AfterConnect = prepareSession
	config.MaxConns = max(config.MaxConns, maxReaders+2) // the writer and an operator never wait for readers
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	p := &postgres{pool: pool, queries: catalogue("postgres"), clock: clock, readers: make(chan struct{}, maxReaders), writer: rand.Text()}
	if err := p.migrate(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("database: %w", explainPostgres(err))
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
		SET lock_timeout = %[2]d`, transactTimeout.Milliseconds(), transactTimeout.Milliseconds()/2))
	return err
}

// migrate holds a lock of this program's while it looks at the version, so of
// replicas that start at once the first does the work.
func (p *postgres) migrate(ctx context.Context) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		const begin = `SET LOCAL lock_timeout = 0; -- another's migration may take its time
			SELECT pg_advisory_xact_lock(1634953055); -- any number that no other program of this database locks
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
		_, err = tx.Exec(ctx, dropMarks)
		return err
	})
}

func (p *postgres) Query(ctx context.Context, st Statement) error {
	select {
	case p.readers <- struct{}{}:
		defer func() { <-p.readers }()
	case <-ctx.Done():
		return ctx.Err()
	}
	rows := 0 // that were read cannot be taken back
	scan := func(r Row) error { rows++; return st.Scan(r) }
	var err error
	return explainPostgres(p.retryOnce(ctx, func() error {
		if rows == 0 {
			err = p.read(ctx, Statement{st.Name, st.Args, scan})
		}
		return err
	}))
}

func (p *postgres) read(ctx context.Context, st Statement) error {
	rows, err := p.pool.Query(ctx, p.queries[st.Name], st.Args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return scanAll(rows, st.Scan)
}

func (p *postgres) Ping(ctx context.Context) error { return ping(ctx, p) }

// Now is the server's time, which all replicas share.
func (p *postgres) Now(ctx context.Context) (time.Time, error) {
	if p.clock != nil {
		return p.clock(), nil
	}
	var ns int64
	err := p.pool.QueryRow(ctx, "SELECT "+clock).Scan(&ns)
	return time.Unix(0, ns), explainPostgres(err)
}

// Close ends the connections.
func (p *postgres) Close() error {
	p.pool.Close()
	return nil
}
