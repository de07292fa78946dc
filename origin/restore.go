package main

import (
	"context"
	"fmt"

	"github.com/addrspec/addrspec/origin/ledger/archive"
)

// restoreCmd puts a backup in the ledger's place.
type restoreCmd struct {
	databaseFlag
	File string `arg:"" help:"The backup."`

	Force        bool `env:"-" help:"Replace the database that exists. The old file is kept under another name."`
	KeepSessions bool `env:"-" name:"keep-sessions" help:"Keep sessions and one-time links. Use it to move a stopped service to another machine."`
}

const restoreHelp = `Checks the backup and puts a copy of it at the path of --database. Stop the service
first: restore refuses to replace a database that a process has open, which it sees
by SQLite's locks. A restore that is interrupted leaves the database of before.

  systemctl stop addrspec
  addrspec restore /var/backups/addrspec.db --force --database sqlite:/var/lib/addrspec/addrspec.db
  systemctl start addrspec

` + restoreLoss + `

For PostgreSQL use pg_restore.`

// restoreLoss is printed after a restore as well.
const restoreLoss = `What was done after the backup is lost:
- Charges: their points can be spent again, and the usage history lacks them.
- Accounts and keys made since. Revoke again what was revoked since, suspend again
  what was suspended, delete again what was deleted: it is back, and so are
  passwords, recovery codes and passkeys that were changed, used or removed.
- Answers for Idempotency-Keys: a retry across the restore is charged again.
- Webhooks: a threshold passed since is reported again when it is passed again, with
  another webhook-id. Messages that were due at the backup may be sent again, with
  the same one.
Sessions and one-time links are removed unless --keep-sessions is given, since some
were ended or used since: people sign in again, and unused links are made again.`

// Help returns the text that --help prints after the flags' summary.
func (restoreCmd) Help() string { return restoreHelp }

// Run restores the backup and prints what it contains and what is lost.
func (c *restoreCmd) Run(ctx context.Context, std streams) error {
	path, err := c.sqlitePath("restore", "pg_restore --clean --if-exists --no-owner --dbname='%s' FILE")
	if err != nil {
		return err
	}
	line := newProgressLine(std.err, "restore")
	r, err := archive.Restore(ctx, c.File, path, archive.RestoreOptions{Force: c.Force, KeepSessions: c.KeepSessions, Progress: line.pages})
	line.clear()
	if err != nil {
		return interrupted(err)
	}
	fmt.Fprintf(std.out, "%s is restored from %s: %s\n", path, c.File, describeSummary(r.Summary))
	if r.Kept != "" {
		fmt.Fprintf(std.out, "The old database is %s; remove it when you no longer need it.\n", r.Kept)
	}
	_, err = fmt.Fprintf(std.out, "\n%s\n", restoreLoss)
	return err
}
