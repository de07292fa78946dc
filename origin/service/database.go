package service

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// DatabaseFlag is the URL of the ledger's database.
type DatabaseFlag struct {
	Database string `default:"sqlite:data/addrspec.db" placeholder:"URL" help:"The ledger's database: sqlite:PATH or postgres://... Only serve, account create, restore and import make one (${default})."`
}

// Redacted returns the URL for the log and for a command line, without the password and without the
// parameters, which may contain secrets.
func (f *DatabaseFlag) Redacted() string {
	if strings.HasPrefix(f.Database, "sqlite:") {
		return f.Database // a path: it has no password, and remains usable as it is
	}
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

// With calls do with the ledger.
func (f *DatabaseFlag) With(ctx context.Context, do func(*ledger.Ledger) error, options ...ledger.Option) error {
	l, err := ledger.Open(ctx, f.Database, options...)
	if err != nil {
		return err
	}
	defer l.Close()
	return do(l)
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
	return "", UsageError{Err: fmt.Errorf("this command is for SQLite; to %s PostgreSQL run: "+postgres+
		" (the password belongs in ~/.pgpass or PGPASSWORD)", verb, f.Redacted())}
}

// SQLiteFile returns the file of the database, "" on PostgreSQL.
func (f *DatabaseFlag) SQLiteFile() string {
	path, found := strings.CutPrefix(f.Database, "sqlite:")
	if !found {
		return ""
	}
	return path
}

// SecretKeyFlags are the keys that seal secrets in the database.
type SecretKeyFlags struct {
	SecretKey     string `name:"secret-key" placeholder:"KEY[,KEY]" help:"The key that encrypts secrets of authenticator apps and webhooks in the database, at least 32 random characters without a comma. With two, separated by a comma, the first encrypts and both decrypt. Give it as ADDRSPEC_SECRET_KEY, since other users can read command lines. Without it these secrets are stored as they are."`
	SecretKeyFile string `name:"secret-key-file" placeholder:"FILE" help:"A file with the key in place of --secret-key, or with two, one a line."`
}

// Check rejects keys that can be guessed, and a file that cannot be read. Its errors do
// not contain the keys.
func (f *SecretKeyFlags) Check() error {
	_, err := f.Sealer()
	return err
}

// Sealer returns what seals with the keys, nil without one. The error is a UsageError.
func (f *SecretKeyFlags) Sealer() (*store.Sealer, error) {
	if f.SecretKeyFile != "" && f.SecretKey != "" {
		return nil, UsageError{Err: errors.New("--secret-key and --secret-key-file are both given: give one of them")}
	}
	flag, keys := "--secret-key", splitSecrets(f.SecretKey)
	if f.SecretKeyFile != "" {
		flag = "--secret-key-file " + f.SecretKeyFile
		text, err := ReadStart(f.SecretKeyFile, 4<<10)
		if err != nil {
			return nil, UsageError{Err: fmt.Errorf("--secret-key-file: %w", err)}
		}
		keys = strings.Fields(text)
		if len(keys) == 0 {
			return nil, UsageError{Err: fmt.Errorf("%s has no key: write the output of openssl rand -hex 24 into it", flag)}
		}
	}
	if err := checkSecrets(flag, keys, 32, "secrets are changed"); err != nil {
		return nil, UsageError{Err: err}
	}
	return store.NewSealer(keys...)
}
