// Package postgres is the driver of the store for PostgreSQL databases. A program
// imports it to open URLs that begin with "postgres:" or "postgresql:".
//
// A transaction locks the rows it reads. A commit whose confirmation is lost with the
// connection is in doubt: the transaction then reads its outcome from the server
// (transact.go).
package postgres

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/semaphore"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

func init() {
	store.Register("postgres", openPostgres)
	store.Register("postgresql", openPostgres)
}

// files are the queries and the migrations.
//
//go:embed *.sql
var files embed.FS

// postgres is a database that several replicas share. Those that charge the same account
// take turns. A transaction takes two round trips, one to begin and read, one to write
// and commit.
type postgres struct {
	pool    *pgxpool.Pool
	queries map[string]string
	clock   func() time.Time // nil: the server's, which the replicas share
	readers *semaphore.Weighted

	writer string // identifies this process in the table writers
	groups int64  // Marked transactions begun so far
}

const (
	maxReaders      = 4                      // concurrent calls of Query
	transactTimeout = time.Second            // of a transaction
	lockTimeout     = 150 * time.Millisecond // of each lock that it waits for
	openTimeout     = 30 * time.Second       // of the first connection and the migration together
)

func openPostgres(ctx context.Context, url string, clock func() time.Time, create bool) (store.Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the database's URL: %w", err) // pgx leaves the password out
	}
	config.AfterConnect = prepareSession
	config.MaxConns = max(config.MaxConns, maxReaders+2) // so that the writer and an operator never wait for readers
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return migrate(ctx, tx, create) })
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("database: %w", explain(err))
	}
	return &postgres{pool: pool, queries: store.Catalogue(files), clock: clock,
		readers: semaphore.NewWeighted(maxReaders), writer: rand.Text()}, nil
}

// prepareSession turns synchronous_commit on if the server's default is off, so
// that commits wait for the disk; stricter settings remain. It also bounds how
// long a replica that has vanished keeps its locks, and how long others wait for
// them.
func prepareSession(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, fmt.Sprintf(`
		SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
		SET idle_in_transaction_session_timeout = %[1]d;
		SET lock_timeout = %[2]d`, transactTimeout.Milliseconds(), lockTimeout.Milliseconds()))
	return err
}

// migrate reads the schema version, under an advisory lock if it may migrate: if several
// replicas start at once, the first migrates and the others find nothing to do.
func migrate(ctx context.Context, tx pgx.Tx, create bool) error {
	if create {
		_, err := tx.Exec(ctx, `SET LOCAL lock_timeout = 0; -- a migration by another replica may take long
			SELECT pg_advisory_xact_lock(1634953055); -- any number that no other program locks in the same database
			CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)`)
		if err != nil {
			return err
		}
	}
	var version int
	err := tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM schema_version").Scan(&version)
	if sqlState(err) == undefinedTable {
		return store.ErrNoLedger
	}
	if err != nil {
		return err
	}
	steps, err := store.Migration(files, version, create)
	if err != nil || !create {
		return err
	}
	if steps != "" {
		steps += fmt.Sprintf("INSERT INTO schema_version VALUES (%d);", store.Version)
	}
	_, err = tx.Exec(ctx, steps+dropMarks)
	return err
}

func (p *postgres) Query(ctx context.Context, st store.Statement) error {
	if err := p.readers.Acquire(ctx, 1); err != nil {
		return err
	}
	defer p.readers.Release(1)
	scanned := false
	scan := func(r store.Row) error { scanned = true; return st.Scan(r) }
	var err error
	return explain(p.retryOnce(ctx, func() error {
		if scanned {
			return err // because a second run would scan the same rows again
		}
		rows, _ := p.pool.Query(ctx, p.queries[st.Name], st.Args...) // its error is that of rows, too
		err = scanAll(rows, scan)
		return err
	}))
}

// Now returns the server's time, which all replicas share.
func (p *postgres) Now(ctx context.Context) (time.Time, error) {
	if p.clock != nil {
		return p.clock(), nil
	}
	var ns int64
	err := p.pool.QueryRow(ctx, "SELECT "+clock).Scan(&ns)
	return time.Unix(0, ns), explain(err)
}

// Close ends the connections. The server gets a transaction's time for it: pgx waits 15 s for each
// connection if the server does not respond, although a process needs not wait for its end.
func (p *postgres) Close() error {
	closed := make(chan struct{})
	go func() { p.pool.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(transactTimeout):
	}
	return nil
}

const (
	oldestMaintained = 14_00_00 // PostgreSQL's oldest release that is, as server_version_num
	spareConnections = 10       // what a replica and an operator need
)

// Examine reads the version, whether the server writes, and how many connections
// are left.
func (p *postgres) Examine(ctx context.Context) (e store.Examination, err error) {
	var name string
	var readOnly, standby bool
	var version, used, most int
	err = p.pool.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('server_version_num')::int,
		current_setting('transaction_read_only')::bool, pg_is_in_recovery(),
		(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int,
		current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int`).
		Scan(&name, &version, &readOnly, &standby, &used, &most)
	if err != nil {
		return e, explain(err)
	}
	if standby {
		e.Wrong = append(e.Wrong, errors.New("the server is a standby, which cannot commit: "+
			"give the primary's address, or target_session_attrs=read-write with both"))
	} else if readOnly {
		e.Wrong = append(e.Wrong, errors.New("transactions are read-only (default_transaction_read_only): "+
			"turn that off for this role or database"))
	}
	if version < oldestMaintained {
		e.Advice = append(e.Advice, fmt.Errorf("PostgreSQL %s is no longer maintained: upgrade the server", name))
	}
	if most-used < spareConnections {
		e.Advice = append(e.Advice, fmt.Errorf("%d of %d connections are in use: raise max_connections, "+
			"or close what is not needed", used, most))
	}
	e.Summary = fmt.Sprintf("PostgreSQL %s, %d of %d connections in use", name, used, most)
	return e, nil
}

// SQLSTATE codes and classes, see PostgreSQL's manual, appendix A.
const (
	invalidParameter     = "22023"
	undefinedTable       = "42P01"
	lockNotAvailable     = "55P03" // lock_timeout has passed
	queryCanceled        = "57014" // statement_timeout has passed
	operatorIntervention = "57P"   // the server stops, or an operator ended the connection

	connectionException = "08"
	dataException       = "22"
	integrityViolation  = "23"
)

var advice = map[string]string{
	"28000": "the role may not log in; check the URL and pg_hba.conf",
	"28P01": "the password is wrong; check the URL",
	"3D000": "create the database first: createdb",
	"3F000": "the role needs a schema to work in: GRANT USAGE, CREATE ON SCHEMA",
	"42501": "the role needs more rights: GRANT USAGE, CREATE ON SCHEMA",
	"55P03": "another replica, or an operator's session, has locked the accounts for too long",
	"53100": "the database's disk is full; free some space, then the ledger continues by itself",
	"53300": "the database has no connection left; raise max_connections or lower pool_max_conns in the URL",
	"25006": "the database is read-only; use the URL of the primary",
}

func sqlState(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// isRolledBack reports whether the server returned an error and rolled the
// transaction back. After SQLSTATE 57P* the outcome is unknown; so it is if the error is a
// pooler's that has lost the server.
func isRolledBack(err error) bool {
	code := sqlState(err)
	return code != "" && !strings.HasPrefix(code, operatorIntervention) && !strings.HasPrefix(code, connectionException)
}

func explain(err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	if strings.HasPrefix(e.Code, dataException) || strings.HasPrefix(e.Code, integrityViolation) {
		// Without its detail, which quotes values of the row.
		return fmt.Errorf("%w: %w", store.ErrData, &pgconn.PgError{Severity: e.Severity, Code: e.Code,
			Message: e.Message, TableName: e.TableName, ConstraintName: e.ConstraintName})
	}
	if e.Code == queryCanceled {
		return fmt.Errorf("%w (%w)", context.DeadlineExceeded, err)
	}
	if advice[e.Code] != "" {
		err = fmt.Errorf("%s (%w)", advice[e.Code], err)
	}
	if e.Code == lockNotAvailable {
		return &store.Locked{Err: err}
	}
	return err
}
