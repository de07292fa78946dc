package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
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

// SecretKeyFlags are the keys that seal secrets in the database.
type SecretKeyFlags struct {
	SecretKey     string `name:"secret-key" placeholder:"KEY[,KEY]" help:"The key that encrypts secrets of authenticator apps and webhooks in the database, at least 32 random characters without a comma. With two, separated by a comma, the first encrypts and both decrypt. Give it as ADDRSPEC_SECRET_KEY, since other users can read command lines. Without it these secrets are stored as they are."`
	SecretKeyFile string `name:"secret-key-file" placeholder:"FILE" help:"A file with the key in place of --secret-key, or with two, one a line."`
}

const (
	shortestKey = 32
	longestFile = 4 << 10 // bytes of a file of keys
)

// Check rejects keys that can be guessed, and a file that cannot be read. Its errors do
// not contain the keys.
func (f *SecretKeyFlags) Check() error {
	_, err := f.Sealer()
	return err
}

// Sealer returns what seals with the keys, nil without one. The error is a UsageError.
func (f *SecretKeyFlags) Sealer() (*store.Sealer, error) {
	keys, err := f.keys()
	if err != nil {
		return nil, UsageError{Err: err}
	}
	return store.NewSealer(keys...)
}

func (f *SecretKeyFlags) keys() ([]string, error) {
	const change = "secrets are changed"
	switch {
	case f.SecretKeyFile == "":
		keys := splitSecrets(f.SecretKey)
		return keys, checkSecrets("--secret-key", keys, shortestKey, change)
	case f.SecretKey != "":
		return nil, errors.New("--secret-key and --secret-key-file are both given: give one of them")
	}
	text, err := readStart(f.SecretKeyFile, longestFile)
	if err != nil {
		return nil, fmt.Errorf("--secret-key-file: %w", err)
	}
	keys := strings.Fields(text)
	if len(keys) == 0 {
		return nil, fmt.Errorf("--secret-key-file %s has no key: write the output of openssl rand -hex 24 into it", f.SecretKeyFile)
	}
	return keys, checkSecrets("--secret-key-file "+f.SecretKeyFile, keys, shortestKey, change)
}

// readStart returns the first bytes of a file.
func readStart(path string, most int64) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most))
	return string(text), err
}
