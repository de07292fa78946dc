package main

import (
	"context"
	"net/url"

	"github.com/addrspec/addrspec/origin/ledger"
)

// databaseFlag names the ledger's database.
type databaseFlag struct {
	Database string `default:"sqlite:data/addrspec.db" placeholder:"URL" help:"The ledger: sqlite:PATH (made when missing) or postgres://... (${default})."`
}

func (f *databaseFlag) openLedger(ctx context.Context, options ...ledger.Option) (*ledger.Ledger, error) {
	return ledger.Open(ctx, f.Database, options...)
}

// redacted is the URL for the log, without the password and the parameters,
// which may be secret.
func (f *databaseFlag) redacted() string {
	parsed, err := url.Parse(f.Database)
	if err != nil {
		return "(not a URL)"
	}
	parsed.RawQuery = ""
	return parsed.Redacted()
}

// withLedger runs do on the database; a server may run on the same one.
func (f *databaseFlag) withLedger(ctx context.Context, do func(*ledger.Ledger) error) error {
	l, err := f.openLedger(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	return do(l)
}
