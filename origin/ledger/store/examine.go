package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// An Examination is the state of a database.
type Examination struct {
	Summary string  // in words
	Wrong   []error // what keeps charges from being durable or possible
	Advice  []error // what should be done soon
}

// examiner is a Store that can examine its database.
type examiner interface {
	examine(ctx context.Context) (Examination, error)
}

// Examine looks at the database of s, until ctx ends.
func Examine(ctx context.Context, s Store) (Examination, error) {
	known, ok := s.(examiner)
	if !ok {
		return Examination{}, errors.New("this store cannot be examined")
	}
	return known.examine(ctx)
}

// quickCheckLimit bounds the check of a file. A large one is checked in part.
const quickCheckLimit = 5 * time.Second

// examine runs PRAGMA quick_check, which reads the whole file but for the indexes'
// contents, and looks at the journal mode.
func (s *sqlite) examine(ctx context.Context) (e Examination, err error) {
	var version string
	if err := s.read.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return e, explainSQLite(err)
	}
	if wal, err := s.usesWAL(); err != nil {
		return e, err
	} else if !wal {
		e.Advice = append(e.Advice, errNoWAL)
	}
	checked, damage, err := s.quickCheck(ctx)
	if s.startedMeanwhile() {
		checked, damage, err = "not checked, since a service started meanwhile: run this again", nil, nil
	}
	if damage != nil {
		e.Wrong = append(e.Wrong, damage)
	}
	e.Summary = fmt.Sprintf("SQLite %s, %s", version, checked)
	return e, err
}

// errNoWAL is advice: commits are as durable in other journal modes, but readers and
// the writer wait for each other.
var errNoWAL = errors.New("its journal is not a write-ahead log: serve changes that at its start; if it is running, the file system does not support shared memory, so use a local disk")

func (s *sqlite) quickCheck(ctx context.Context) (checked string, damage, err error) {
	ctx, cancel := context.WithTimeout(ctx, quickCheckLimit)
	defer cancel()
	start := time.Now()
	var found string
	err = s.read.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found)
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("not checked whole: larger than %s allow", quickCheckLimit), nil, nil
	case err != nil:
		return "", nil, explainSQLite(err)
	case found != "ok":
		return "damaged", fmt.Errorf("the file is damaged (%s): stop the service and restore it from a backup", found), nil
	}
	return fmt.Sprintf("sound (checked in %s)", time.Since(start).Round(time.Millisecond)), nil, nil
}

const (
	// leastPostgres is the oldest release that its makers still maintain, as
	// server_version_num.
	leastPostgres = 14_00_00
	// spareConnections is what a replica and an operator need.
	spareConnections = 10
)

// examine reads the version, whether the server writes, and how many connections
// are left.
func (p *postgres) examine(ctx context.Context) (e Examination, err error) {
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
