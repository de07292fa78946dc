package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// SQLSTATE codes and classes, see PostgreSQL's manual, appendix A.
const (
	invalidParameter     = "22023"
	operatorIntervention = "57P" // the server stops, or an operator ended the connection

	dataException      = "22"
	integrityViolation = "23"
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
// transaction back. After SQLSTATE 57P* the outcome is unknown.
func isRolledBack(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && !strings.HasPrefix(e.Code, operatorIntervention)
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
	case postgresAdvice[e.Code] != "":
		return fmt.Errorf("%s (%w)", postgresAdvice[e.Code], err)
	}
	return err
}

// redacted returns the error without its detail, which quotes values of the row.
func redacted(e *pgconn.PgError) error {
	return &pgconn.PgError{Severity: e.Severity, Code: e.Code, Message: e.Message, TableName: e.TableName, ConstraintName: e.ConstraintName}
}
