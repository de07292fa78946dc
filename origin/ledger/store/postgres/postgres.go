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

// maxReaders bounds the concurrent calls of Query.
const maxReaders = 4

// postgres is a database that several replicas share. A transaction locks the
// rows it reads, so replicas that charge the same account take turns. It takes
// two round trips, one to begin and read, one to write and commit.
type postgres struct {
	pool    *pgxpool.Pool
	queries map[string]string
	clock   func() time.Time // nil: the server's, which the replicas share
	readers chan struct{}    // semaphore of Query

	writer string // identifies this process in the table writers
	groups int64  // Marked transactions begun so far
}

const (
	transactTimeout = time.Second            // of a transaction
	lockTimeout     = 150 * time.Millisecond // of each lock that it waits for
	openTimeout     = 30 * time.Second       // of the first connection and the migration together
)

func openPostgres(ctx context.Context, url string, clock func() time.Time, a store.Access) (store.Store, error) {
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
	p := &postgres{pool: pool, queries: store.Catalogue(files), clock: clock, readers: make(chan struct{}, maxReaders), writer: rand.Text()}
	require := p.migrate
	if a != store.Create {
		require = p.requireCurrent
	}
	if err := require(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("database: %w", explainPostgres(err))
	}
	return p, nil
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

// migrationLock is the advisory lock of migrations, "asg_" in ASCII: any number
// that no other program locks in the same database.
const migrationLock = 0x6173675f

// migrate reads the schema version under an advisory lock. If several replicas
// start at once, the first migrates and the others find nothing to do.
func (p *postgres) migrate(ctx context.Context) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		const begin = `SET LOCAL lock_timeout = 0; -- a migration by another replica may take long
			SELECT pg_advisory_xact_lock(%d);
			CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)`
		if _, err := tx.Exec(ctx, fmt.Sprintf(begin, migrationLock)); err != nil {
			return err
		}
		var version int
		if err := tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM schema_version").Scan(&version); err != nil {
			return err
		}
		steps, err := store.Migration(files, version)
		if err != nil {
			return err
		}
		if steps != "" {
			if _, err := tx.Exec(ctx, fmt.Sprintf("%s INSERT INTO schema_version VALUES (%d)", steps, store.Version)); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, dropMarks)
		return err
	})
}

// requireCurrent returns an error unless the schema is this program's.
func (p *postgres) requireCurrent(ctx context.Context) error {
	var exists bool
	if err := p.pool.QueryRow(ctx, "SELECT to_regclass('schema_version') IS NOT NULL").Scan(&exists); err != nil {
		return err
	}
	if !exists {
		return store.ErrNoLedger
	}
	var version int
	if err := p.pool.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM schema_version").Scan(&version); err != nil {
		return err
	}
	return store.RequireCurrent(files, version)
}

func (p *postgres) Query(ctx context.Context, st store.Statement) error {
	select {
	case p.readers <- struct{}{}:
		defer func() { <-p.readers }()
	case <-ctx.Done():
		return ctx.Err()
	}
	rows := 0 // scanned; a query that has scanned some is not retried
	scan := func(r store.Row) error { rows++; return st.Scan(r) }
	var err error
	return explainPostgres(p.retryOnce(ctx, func() error {
		if rows == 0 {
			err = p.read(ctx, store.Statement{Name: st.Name, Args: st.Args, Scan: scan})
		}
		return err
	}))
}

func (p *postgres) read(ctx context.Context, st store.Statement) error {
	rows, err := p.pool.Query(ctx, p.queries[st.Name], st.Args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return scanAll(rows, st.Scan)
}

// Now returns the server's time, which all replicas share.
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

const (
	// leastPostgres is the oldest release that its makers still maintain, as
	// server_version_num.
	leastPostgres = 14_00_00
	// spareConnections is what a replica and an operator need.
	spareConnections = 10
)

// Examine reads the version, whether the server writes, and how many connections
// are left.
func (p *postgres) Examine(ctx context.Context) (e store.Examination, err error) {
	var name, readOnly, standby string
	var version, used, most int
	err = p.pool.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('server_version_num')::int,
		current_setting('transaction_read_only'), pg_is_in_recovery()::text,
		(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int,
		current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int`, pgx.QueryExecModeExec).
		Scan(&name, &version, &readOnly, &standby, &used, &most)
	if err != nil {
		return e, explainPostgres(err)
	}
	if standby == "true" {
		e.Wrong = append(e.Wrong, errors.New("the server is a standby, which cannot commit: give the primary's address, or target_session_attrs=read-write with both"))
	} else if readOnly == "on" {
		e.Wrong = append(e.Wrong, errors.New("transactions are read-only (default_transaction_read_only): turn that off for this role or database"))
	}
	if version < leastPostgres {
		e.Advice = append(e.Advice, fmt.Errorf("PostgreSQL %s is no longer maintained: upgrade the server", name))
	}
	if most-used < spareConnections {
		e.Advice = append(e.Advice, fmt.Errorf("%d of %d connections are in use: raise max_connections, or close what is not needed", used, most))
	}
	e.Summary = fmt.Sprintf("PostgreSQL %s, %d of %d connections in use", name, used, most)
	return e, nil
}

// SQLSTATE codes and classes, see PostgreSQL's manual, appendix A.
const (
	invalidParameter     = "22023"
	lockNotAvailable     = "55P03" // lock_timeout has passed
	readOnly             = "25006"
	queryCanceled        = "57014" // statement_timeout has passed
	operatorIntervention = "57P"   // the server stops, or an operator ended the connection

	connectionException = "08"
	dataException       = "22"
	integrityViolation  = "23"
)

// postgresAdvice is what an operator can do about an error, by SQLSTATE.
var postgresAdvice = map[string]string{
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

// isRolledBack reports whether the server returned an error and rolled the
// transaction back. After SQLSTATE 57P* the outcome is unknown; so it is if the error is a
// pooler's that has lost the server.
func isRolledBack(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && !strings.HasPrefix(e.Code, operatorIntervention) && !strings.HasPrefix(e.Code, connectionException)
}

func hasCode(err error, code string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == code
}

// explainPostgres adds advice to an error of PostgreSQL, and ErrData if it is one
// of the data.
func explainPostgres(err error) error {
	var e *pgconn.PgError
	switch {
	case !errors.As(err, &e):
		return err
	case strings.HasPrefix(e.Code, dataException), strings.HasPrefix(e.Code, integrityViolation):
		return fmt.Errorf("%w: %w", store.ErrData, redacted(e))
	case e.Code == lockNotAvailable:
		return &store.Locked{Err: fmt.Errorf("%s (%w)", postgresAdvice[e.Code], err)}
	case e.Code == queryCanceled:
		return fmt.Errorf("%w (%w)", context.DeadlineExceeded, err)
	case postgresAdvice[e.Code] != "":
		return fmt.Errorf("%s (%w)", postgresAdvice[e.Code], err)
	}
	return err
}

// redacted returns the error without its detail, which quotes values of the row.
func redacted(e *pgconn.PgError) error {
	return &pgconn.PgError{Severity: e.Severity, Code: e.Code, Message: e.Message, TableName: e.TableName, ConstraintName: e.ConstraintName}
}
