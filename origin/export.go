package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/addrspec/addrspec/lists/feed/prompt"
	"github.com/addrspec/addrspec/origin/ledger/archive"
	"github.com/addrspec/addrspec/origin/ledger/archive/ndjson"
)

// exportCmd writes a ledger as text that either database can read.
type exportCmd struct {
	databaseFlag
	forceFlag
	File string `arg:"" help:"The file to write, compressed if its name ends in .gz; - for standard output."`
}

const exportHelp = `Writes the whole ledger, from one moment and while the service runs, as text that
'addrspec import' reads into SQLite or PostgreSQL. The text is JSON lines, which
'go doc ./origin/ledger/archive' describes; its last line has a checksum.

` + exportSecrets

const exportSecrets = `The file has mode 0600, and must be kept like a password. It contains as they are:
emails and names of customers, secrets of authenticator apps (TOTP), secrets and
addresses of webhooks. It contains as hashes: API keys, passwords (Argon2id),
recovery codes, sessions and one-time links. Answers stored for Idempotency-Keys are
encrypted under them.`

// Help returns the text that --help prints after the flags' summary.
func (exportCmd) Help() string { return exportHelp }

// Run exports the ledger and prints what was written.
func (c *exportCmd) Run(ctx context.Context, std streams) error {
	line := newProgressLine(std.err, "export")
	counts, err := c.export(ctx, std, line)
	line.clear()
	if err != nil {
		return interrupted(err)
	}
	_, err = fmt.Fprintf(std.err, "exported %s\n", describeCounts(counts))
	return err
}

func (c *exportCmd) export(ctx context.Context, std streams, line *progressLine) (ndjson.Counts, error) {
	if c.File == "-" {
		if prompt.IsTerminal(std.out) {
			return nil, usageError{errors.New("an export contains secrets: give the name of a file, or pipe it to another program")}
		}
		return archive.Export(ctx, c.Database, line.counting(std.out))
	}
	file, err := archive.CreateFile(c.File, c.Force)
	if err != nil {
		return nil, err
	}
	defer file.Discard()
	counts, err := writeExport(ctx, c.Database, strings.HasSuffix(c.File, ".gz"), line.counting(file))
	if err != nil {
		return nil, err
	}
	return counts, file.Finish()
}

// writeExport compresses an export if asked to.
func writeExport(ctx context.Context, database string, compress bool, to io.Writer) (ndjson.Counts, error) {
	if !compress {
		return archive.Export(ctx, database, to)
	}
	buffer := bufio.NewWriter(to)
	z := gzip.NewWriter(buffer)
	counts, err := archive.Export(ctx, database, z)
	if err == nil {
		err = errors.Join(z.Close(), buffer.Flush())
	}
	return counts, err
}

func describeCounts(counts ndjson.Counts) string {
	rows := int64(0)
	for _, n := range counts {
		rows += n
	}
	return fmt.Sprintf("%d rows, of them %d accounts, %d keys and %d days of usage", rows, counts["accounts"], counts["keys"], counts["usage"])
}
