package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

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
