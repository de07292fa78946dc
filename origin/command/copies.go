package command

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/lists/feed/prompt"
	"github.com/addrspec/addrspec/origin/ledger/archive"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/words"
)

// backupCmd copies an SQLite ledger.
type backupCmd struct {
	service.DatabaseFlag
	forceFlag
	File string `arg:"" help:"The file to write. It must not exist, unless --force is given."`
}

// forceFlag lets a command replace the file that it writes.
type forceFlag struct {
	Force bool `env:"-" help:"Replace the file if it exists."`
}

// Help returns the text that --help prints after the flags' summary.
func (backupCmd) Help() string {
	return `Copies the ledger's SQLite database while the service runs, checks the copy and
then puts it at FILE: an interrupted backup leaves nothing there, or the file of
before. The copy is one moment of the ledger. It has mode 0600: it contains emails
of customers, hashes of keys and passwords, and secrets of authenticator apps and
webhooks, sealed if serve has a --secret-key, which is not in the copy: keep it apart.

For PostgreSQL use pg_dump. origin/deploy/backup.md has both by cron and systemd.`
}

// Run makes the backup and prints what it contains.
func (c *backupCmd) Run(ctx context.Context, std streams) error {
	path, err := c.SQLitePath("back up", "pg_dump --format=custom --file=FILE '%s'")
	if err != nil {
		return err
	}
	line := &progressLine{to: std.err, what: "backup"}
	s, err := archive.Backup(ctx, path, c.File, c.Force, line.copied)
	if err := line.end(err); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "%s is a backup of %s and in order: %s\n", c.File, path, describeSummary(s))
	return err
}

func describeSummary(s archive.Summary) string {
	last, sealed := "no usage", ""
	if !s.LastDay.IsZero() {
		last = "usage until " + words.Date(s.LastDay)
	}
	if len(s.SealedBy) > 0 {
		sealed = ", secrets sealed with the key whose ID is " + strings.Join(s.SealedBy, " or ")
	}
	return fmt.Sprintf("schema %d, %s, %s, %s%s", s.Schema, words.Count(s.Accounts, "account"),
		words.Count(s.Keys, "key"), last, sealed)
}

// restoreCmd puts a backup in the ledger's place.
type restoreCmd struct {
	service.DatabaseFlag
	service.SecretKeyFlags
	File string `arg:"" help:"The backup."`

	Force        bool `env:"-" help:"Replace the database that exists. The old file is kept under another name."`
	KeepSessions bool `env:"-" name:"keep-sessions" help:"Keep sessions and one-time links. Use it to move a stopped service to another machine."`
}

// restoreLoss is printed after a restore as well.
const restoreLoss = `What was done after the backup is lost:
- Charges: their points can be spent again, and the usage history lacks them.
- Accounts and keys made since. Revoke again what was revoked since, suspend again
  what was suspended, delete again what was deleted: it is back, and so are
  passwords, recovery codes and passkeys that were changed, used or removed.
- Responses for Idempotency-Keys: a retry across the restore is charged again.
- Webhooks: a threshold passed since is reported again when it is passed again, with
  another webhook-id. Messages that were due at the backup may be sent again, with
  the same one.
Sessions and one-time links are removed unless --keep-sessions is given, since some
were ended or used since: people sign in again, and unused links are made again.`

// Help returns the text that --help prints after the flags' summary.
func (restoreCmd) Help() string {
	return `Checks the backup and puts a copy of it at the path of --database. Stop the service
first: restore refuses to replace a database that a process has open, which it sees
by SQLite's locks. A restore that is interrupted leaves the database of before.
If secrets in the backup are sealed, it prints the ID of the key that serve needs, and
whether it is the one of --secret-key.

  systemctl stop addrspec
  addrspec restore /var/backups/addrspec.db --force --database sqlite:/var/lib/addrspec/addrspec.db
  systemctl start addrspec

` + restoreLoss + `

For PostgreSQL use pg_restore.`
}

// Run restores the backup and prints what it contains and what is lost.
func (c *restoreCmd) Run(ctx context.Context, std streams) error {
	path, err := c.SQLitePath("restore", "pg_restore --clean --if-exists --no-owner --dbname='%s' FILE")
	if err != nil {
		return err
	}
	sealer, err := c.Sealer()
	if err != nil {
		return err
	}
	line := &progressLine{to: std.err, what: "restore"}
	r, err := archive.Restore(ctx, c.File, path,
		archive.RestoreOptions{Force: c.Force, KeepSessions: c.KeepSessions, Progress: line.copied})
	if err := line.end(err); err != nil {
		return err
	}
	fmt.Fprintf(std.out, "%s is restored from %s: %s\n", path, c.File, describeSummary(r.Summary))
	if r.Kept != "" {
		fmt.Fprintf(std.out, "The old database is %s; remove it when you no longer need it.\n", r.Kept)
	}
	for _, id := range r.SealedBy {
		given := "is not given: serve does not start without it (--secret-key or --secret-key-file)"
		if slices.Contains(sealer.IDs(), id) {
			given = "is given"
		}
		fmt.Fprintf(std.out, "Secrets of authenticator apps and webhooks in it are sealed with the key "+
			"whose ID is %s, which %s.\n", id, given)
	}
	_, err = fmt.Fprintf(std.out, "\n%s\n", restoreLoss)
	return err
}

// exportCmd writes a ledger as text that either database can read.
type exportCmd struct {
	service.DatabaseFlag
	forceFlag
	File string `arg:"" help:"The file to write, compressed if its name ends in .gz; - for standard output."`
}

// Help returns the text that --help prints after the flags' summary.
func (exportCmd) Help() string {
	return `Writes the whole ledger, from one moment and while the service runs, as text that
'addrspec import' reads into SQLite or PostgreSQL. The text is JSON lines, which
'go doc ./origin/ledger/archive' describes; its last line has a checksum.

The file has mode 0600, and must be kept like a password. It contains as they are:
emails and names of customers, addresses of webhooks and, unless serve seals them with a
--secret-key, secrets of authenticator apps (TOTP) and webhooks. It contains as hashes:
API keys, passwords (Argon2id), recovery codes, sessions and one-time links. Responses
stored for Idempotency-Keys are encrypted under them.`
}

// Run exports the ledger and prints what was written.
func (c *exportCmd) Run(ctx context.Context, std streams) error {
	out, finish := std.out, func() error { return nil }
	switch {
	case c.File != "-":
		file, err := archive.CreateFile(c.File, c.Force)
		if err != nil {
			return err
		}
		defer file.Discard()
		out, finish = file, file.Finish
	case prompt.IsTerminal(std.out):
		return service.UsageError{Err: errors.New(
			"an export contains secrets: give the name of a file, or pipe it to another program")}
	}
	line := &progressLine{to: std.err, what: "export"}
	to, complete := io.MultiWriter(out, line), func() error { return nil }
	if strings.HasSuffix(c.File, ".gz") {
		buffer := bufio.NewWriter(to) // because gzip writes a few hundred bytes at a time
		z := gzip.NewWriter(buffer)
		to, complete = z, func() error { return cmp.Or(z.Close(), buffer.Flush()) }
	}
	counts, err := archive.Export(ctx, c.Database, to)
	if err := cmp.Or(line.end(err), complete()); err != nil {
		return err
	}
	if err := finish(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.err, "exported %s\n", describeCounts(counts))
	return err
}

func describeCounts(counts archive.Counts) string {
	rows := int64(0)
	for _, n := range counts {
		rows += n
	}
	return fmt.Sprintf("%s, of them %s, %s and %s of usage", words.Count(rows, "row"),
		words.Count(counts["accounts"], "account"), words.Count(counts["keys"], "key"),
		words.Count(counts["usage"], "day"))
}

// importCmd reads an export into an empty ledger.
type importCmd struct {
	service.DatabaseFlag
	service.ModuleFlags
	File string `arg:"" help:"The export, compressed or not; - for standard input."`
}

// Help returns the text that --help prints after the flags' summary.
func (importCmd) Help() string {
	return `Reads what 'addrspec export' wrote into a new database, or into a ledger that has no
account, whose plans are replaced. It is one transaction: an import that fails or is
killed leaves the ledger without rows, and can be repeated. A damaged or truncated
file is refused, and so is a value that the commands would refuse, with its table and
the number of the line.

  createdb addrspec
  addrspec import ledger.ndjson.gz --database postgres://addrspec@db.example/addrspec

Points, keys, sessions and IDs are those of the ledger that was exported. Stop its
service before the export, and let only one of the two ledgers serve: each counts
points by itself.`
}

// Run imports the ledger and prints what was read.
func (c *importCmd) Run(ctx context.Context, std streams) error {
	in := std.in
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	engine, err := c.Engine(ctx)
	if err != nil {
		return err
	}
	defer engine.Close(context.WithoutCancel(ctx))
	line := &progressLine{to: std.err, what: "import"}
	counts, err := archive.Import(ctx, c.Database, io.TeeReader(in, line), func(document string) error {
		_, err := engine.NewPolicy(ctx, document)
		return err
	})
	if err := line.end(err); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	_, err = fmt.Fprintf(std.out, "imported %s into %s\n", describeCounts(counts), c.Redacted())
	return err
}

// A progressLine shows how far a copy of the ledger is, on a terminal only.
type progressLine struct {
	to   io.Writer
	what string
	done int64 // bytes
	last time.Time
}

const clearLine = "\r\x1b[K"

// copied shows how many of all bytes are copied; all is 0 if it is not known.
func (p *progressLine) copied(done, all int64) {
	if time.Since(p.last) < time.Second/5 {
		return
	}
	p.last = time.Now()
	text := humanize.Bytes(uint64(done))
	if all > 0 {
		text = fmt.Sprintf("%d %%", done*100/all)
	}
	if prompt.IsTerminal(p.to) {
		fmt.Fprint(p.to, clearLine, p.what, ": ", text)
	}
}

// Write counts bytes.
func (p *progressLine) Write(b []byte) (int, error) {
	p.done += int64(len(b))
	p.copied(p.done, 0)
	return len(b), nil
}

// end removes the line. It replaces the error of a copy that a signal ended.
func (p *progressLine) end(err error) error {
	if prompt.IsTerminal(p.to) {
		io.WriteString(p.to, clearLine)
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; nothing was changed")
	}
	return err
}
