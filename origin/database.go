package main

import (
	"context"
	"net/url"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger"
	_ "github.com/addrspec/addrspec/origin/ledger/store/postgres"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
)

// databaseFlag is the URL of the ledger's database.
type databaseFlag struct {
	Database string `default:"sqlite:data/addrspec.db" placeholder:"URL" help:"The ledger's database: sqlite:PATH or postgres://... Only serve, account create, restore and import make one (${default})."`
}

func (f *databaseFlag) openLedger(ctx context.Context, options ...ledger.Option) (*ledger.Ledger, error) {
	return ledger.Open(ctx, f.Database, options...)
}

// redacted returns the URL for the log, without the password and without the
// parameters, which may contain secrets.
func (f *databaseFlag) redacted() string {
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

// forShell returns the URL as a word of a shell's command line. One that may have a
// secret is left to the environment, where it belongs.
func (f *databaseFlag) forShell() string {
	if shown := f.redacted(); shown == f.Database {
		return shellQuote(shown)
	}
	return `"$ADDRSPEC_DATABASE"`
}

// withLedger calls do with the ledger, which must exist. A server may use the same
// database meanwhile.
func (f *databaseFlag) withLedger(ctx context.Context, do func(*ledger.Ledger) error) error {
	return f.with(ctx, do, ledger.Existing())
}

// withNewLedger is withLedger for commands that create the database if there is
// none, and migrate it.
func (f *databaseFlag) withNewLedger(ctx context.Context, do func(*ledger.Ledger) error) error {
	return f.with(ctx, do)
}

func (f *databaseFlag) with(ctx context.Context, do func(*ledger.Ledger) error, options ...ledger.Option) error {
	l, err := f.openLedger(ctx, options...)
	if err != nil {
		return err
	}
	defer l.Close()
	return do(l)
}
