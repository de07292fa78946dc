package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/addrspec/addrspec/origin/ledger/archive"
)

// backupCmd copies an SQLite ledger.
type backupCmd struct {
	databaseFlag
	forceFlag
	File string `arg:"" help:"The file to write. It must not exist, unless --force is given."`
}

// forceFlag lets a command replace the file that it writes.
type forceFlag struct {
	Force bool `env:"-" help:"Replace the file if it exists."`
}

const backupHelp = `Copies the ledger's SQLite database while the service runs, checks the copy and
then puts it at FILE: an interrupted backup leaves nothing there, or the file of
before. The copy is one moment of the ledger. It has mode 0600: it contains emails
of customers, hashes of keys and passwords, and as they are the secrets of
authenticator apps and webhooks.

For PostgreSQL use pg_dump. origin/deploy/backup.md has both by cron and systemd.`

// Help returns the text that --help prints after the flags' summary.
func (backupCmd) Help() string { return backupHelp }

// Run makes the backup and prints what it contains.
func (c *backupCmd) Run(ctx context.Context, std streams) error {
	path, err := c.sqlitePath("back up", "pg_dump --format=custom --file=FILE '%s'")
	if err != nil {
		return err
	}
	line := newProgressLine(std.err, "backup")
	s, err := archive.Backup(ctx, path, c.File, c.Force, line.pages)
	line.clear()
	if err != nil {
		return interrupted(err)
	}
	_, err = fmt.Fprintf(std.out, "%s is a backup of %s and in order: %s\n", c.File, path, describeSummary(s))
	return err
}

// sqlitePath returns the path of the database, or a usageError that names the
// command for PostgreSQL.
func (f *databaseFlag) sqlitePath(verb, postgres string) (string, error) {
	if path, ok := strings.CutPrefix(f.Database, "sqlite:"); ok {
		return path, nil
	}
	if !strings.HasPrefix(f.Database, "postgres") {
		return "", usageError{errors.New(`--database must be "sqlite:PATH", such as sqlite:/var/lib/addrspec/addrspec.db`)}
	}
	return "", usageError{fmt.Errorf("this command is for SQLite; to %s PostgreSQL run: "+postgres+" (the password belongs in ~/.pgpass or PGPASSWORD)", verb, f.withoutPassword())}
}

// withoutPassword returns the URL for a command line, which other users can read.
func (f *databaseFlag) withoutPassword() string {
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

func describeSummary(s archive.Summary) string {
	last := "no usage"
	if !s.LastDay.IsZero() {
		last = "usage until " + s.LastDay.Format("2006-01-02")
	}
	return fmt.Sprintf("schema %d, %d accounts, %d keys, %s", s.Schema, s.Accounts, s.Keys, last)
}

// interrupted replaces the error of a command that a signal ended.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; nothing was changed")
	}
	return err
}
