package service

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger"
)

// DatabaseFlag is the URL of the ledger's database.
type DatabaseFlag struct {
	Database string `default:"sqlite:data/addrspec.db" placeholder:"URL" help:"The ledger's database: sqlite:PATH or postgres://... Only serve, account create, restore and import make one (${default})."`
}

func (f *DatabaseFlag) OpenLedger(ctx context.Context, options ...ledger.Option) (*ledger.Ledger, error) {
	return ledger.Open(ctx, f.Database, options...)
}

// Redacted returns the URL for the log, without the password and without the
// parameters, which may contain secrets.
func (f *DatabaseFlag) Redacted() string {
	if strings.HasPrefix(f.Database, "sqlite:") {
		return f.Database // a path: it has no password, and remains usable as it is
	}
	parsed, err := url.Parse(f.Database)
	if err != nil {
		return "(not a URL)"
	}
	parsed.RawQuery = ""
	return parsed.Redacted()
}

// WithLedger calls do with the ledger, which must exist. A server may use the same
// database meanwhile.
func (f *DatabaseFlag) WithLedger(ctx context.Context, do func(*ledger.Ledger) error) error {
	return f.With(ctx, do, ledger.Existing())
}

// WithNewLedger is WithLedger for commands that create the database if there is
// none, and migrate it.
func (f *DatabaseFlag) WithNewLedger(ctx context.Context, do func(*ledger.Ledger) error) error {
	return f.With(ctx, do)
}

func (f *DatabaseFlag) With(ctx context.Context, do func(*ledger.Ledger) error, options ...ledger.Option) error {
	l, err := f.OpenLedger(ctx, options...)
	if err != nil {
		return err
	}
	defer l.Close()
	return do(l)
}

// addProcessor lets one thread more than the machine has processors run Go code until
// restore is called, for a ledger in SQLite: its writer waits for the disk in a system
// call, and Go's scheduler gives the place of such a thread to another only after 20 µs
// to 10 ms. Measured on two processors: 1.04, 1.10 and 1.05 times the requests a second
// on 32, 128 and 512 connections. GOMAXPROCS in the environment overrides it.
//
// Meanwhile the runtime does not follow changes of a container's limit.
func (f *DatabaseFlag) addProcessor() (restore func()) {
	if !strings.HasPrefix(f.Database, "sqlite:") || os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	return runtime.SetDefaultGOMAXPROCS
}

// SQLitePath returns the path of the database, or a UsageError that names the
// command for PostgreSQL.
func (f *DatabaseFlag) SQLitePath(verb, postgres string) (string, error) {
	if path, ok := strings.CutPrefix(f.Database, "sqlite:"); ok {
		return path, nil
	}
	if !strings.HasPrefix(f.Database, "postgres") {
		return "", UsageError{Err: errors.New(`--database must be "sqlite:PATH", such as sqlite:/var/lib/addrspec/addrspec.db`)}
	}
	return "", UsageError{Err: fmt.Errorf("this command is for SQLite; to %s PostgreSQL run: "+postgres+" (the password belongs in ~/.pgpass or PGPASSWORD)", verb, f.withoutPassword())}
}

// withoutPassword returns the URL for a command line, which other users can read.
func (f *DatabaseFlag) withoutPassword() string {
	parsed, err := url.Parse(f.Database)
	if err != nil {
		return "postgres://USER@HOST/NAME"
	}
	parsed.RawQuery = ""
	if parsed.User != nil {
		parsed.User = url.User(parsed.User.Username())
	}
	return parsed.String()
}

// SQLiteFile returns the file of the database, "" on PostgreSQL.
func (f *DatabaseFlag) SQLiteFile() string {
	path, found := strings.CutPrefix(f.Database, "sqlite:")
	if !found {
		return ""
	}
	return path
}
