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
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/lists/feed/prompt"
	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/ledger/archive"
	"github.com/addrspec/addrspec/origin/service"
	"github.com/addrspec/addrspec/origin/words"
)

type backupCmd struct {
	service.DatabaseFlag
	forceFlag
	File string `arg:"" help:"The file to write. It must not exist, unless --force is given."`
}

type forceFlag struct {
	Force bool `env:"-" help:"Replace the file if it exists."`
}

func (backupCmd) Help() string {
	return `Copies one moment of the ledger's SQLite database while the service runs, checks the
copy and then puts it at FILE. It has mode 0600, because it contains emails, hashes of
keys and passwords, and the secrets of authenticator apps and webhooks. They are sealed
if serve has a --secret-key; keep that key apart, because it is not in the copy.

For PostgreSQL use pg_dump. origin/deploy/backup.md has both by cron and systemd.`
}

func (c *backupCmd) Run(ctx context.Context, std streams) error {
	path, err := c.SQLitePath("back up", "pg_dump --format=custom --file=FILE '%s'")
	if err != nil {
		return err
	}
	progress := showProgress(std.err, "backup")
	s, err := archive.Backup(ctx, path, c.File, c.Force, progress.copied)
	if err := progress.end(err); err != nil {
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
- Accounts and keys made since. What was revoked, suspended or deleted since is back, and
  so are old passwords, used recovery codes and removed passkeys: repeat the changes.
- Responses for Idempotency-Keys: a retry across the restore is charged again.
- Webhooks: a threshold may be reported again with another webhook-id, and a message that
  was due at the backup may be sent again with the same one.
Sessions and one-time links are removed unless --keep-sessions is given: people sign in
again, and unused links are made again.`

func (restoreCmd) Help() string {
	return `Checks the backup and puts a copy of it at the path of --database. Stop the service
first: restore refuses to replace a database that a process has open. If secrets are
sealed, it prints the ID of the key that serve needs.

  systemctl stop addrspec
  addrspec restore /var/backups/addrspec.db --force --database sqlite:/var/lib/addrspec/addrspec.db
  systemctl start addrspec

` + restoreLoss + `

For PostgreSQL use pg_restore.`
}

func (c *restoreCmd) Run(ctx context.Context, std streams) error {
	path, err := c.SQLitePath("restore", "pg_restore --clean --if-exists --no-owner --dbname='%s' FILE")
	if err != nil {
		return err
	}
	sealer, err := c.Sealer()
	if err != nil {
		return err
	}
	progress := showProgress(std.err, "restore")
	r, err := archive.Restore(ctx, c.File, path,
		archive.RestoreOptions{Force: c.Force, KeepSessions: c.KeepSessions, Progress: progress.copied})
	if err := progress.end(err); err != nil {
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

type exportCmd struct {
	service.DatabaseFlag
	forceFlag
	File string `arg:"" help:"The file to write, compressed if its name ends in .gz; - for standard output."`
}

func (exportCmd) Help() string {
	return `Writes one moment of the whole ledger, while the service runs, as JSON lines that
'addrspec import' reads into SQLite or PostgreSQL. The last line has a checksum.

The file has mode 0600, and must be kept like a password. It contains emails, names and
addresses of webhooks and, unless serve seals them with a --secret-key, secrets of
authenticator apps and webhooks. Keys, passwords, recovery codes, sessions and one-time
links are hashes, and responses stored for Idempotency-Keys are encrypted under them.`
}

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
	progress := showProgress(std.err, "export")
	to, complete := io.MultiWriter(out, progress), func() error { return nil }
	if strings.HasSuffix(c.File, ".gz") {
		buffer := bufio.NewWriter(to) // because gzip writes a few hundred bytes at a time
		z := gzip.NewWriter(buffer)
		to, complete = z, func() error { return cmp.Or(z.Close(), buffer.Flush()) }
	}
	counts, err := archive.Export(ctx, c.Database, to)
	if err := cmp.Or(progress.end(err), complete()); err != nil {
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

type importCmd struct {
	service.DatabaseFlag
	service.ModuleFlags
	File string `arg:"" help:"The export, compressed or not; - for standard input."`
}

func (importCmd) Help() string {
	return `Reads what 'addrspec export' wrote into a new database, or into a ledger that has no
account, whose plans are replaced. An import that fails or is killed can be repeated,
because it is one transaction.

  createdb addrspec
  addrspec import ledger.ndjson.gz --database postgres://addrspec@db.example/addrspec

Stop the service before the export, and let only one of the two ledgers serve: each
counts points by itself.`
}

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
	progress := showProgress(std.err, "import")
	counts, err := archive.Import(ctx, c.Database, io.TeeReader(in, progress), func(document string) error {
		_, err := engine.NewPolicy(ctx, document)
		return err
	})
	if err := progress.end(err); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	_, err = fmt.Fprintf(std.out, "imported %s into %s\n", describeCounts(counts), c.Redacted())
	return err
}

// A copyProgress shows on a terminal how far a copy of the ledger is.
type copyProgress struct {
	line      *output.Line // nil without a terminal
	done, all atomic.Int64 // bytes; all is 0 if it is not known
}

// showProgress begins to show the progress of what until end.
func showProgress(on io.Writer, what string) *copyProgress {
	p := new(copyProgress)
	if prompt.IsTerminal(on) {
		p.line = &output.Line{To: on, Text: func() string {
			if all := p.all.Load(); all > 0 {
				return fmt.Sprintf("%s: %d %%", what, p.done.Load()*100/all)
			}
			return what + ": " + humanize.Bytes(uint64(p.done.Load()))
		}}
		p.line.Start()
	}
	return p
}

func (p *copyProgress) copied(done, all int64) {
	p.done.Store(done)
	p.all.Store(all)
}

// Write counts bytes.
func (p *copyProgress) Write(b []byte) (int, error) {
	p.done.Add(int64(len(b)))
	return len(b), nil
}

// end removes the line. It replaces the error of a copy that a signal ended.
func (p *copyProgress) end(err error) error {
	if p.line != nil {
		p.line.Stop()
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; nothing was changed")
	}
	return err
}
