package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/addrspec/addrspec/origin/ledger/archive"
)

// importCmd reads an export into an empty ledger.
type importCmd struct {
	databaseFlag
	File string `arg:"" help:"The export, compressed or not; - for standard input."`
}

const importHelp = `Reads what 'addrspec export' wrote into a new database, or into a ledger that has no
account, whose plans are replaced. It is one transaction: an import that fails or is
killed leaves the ledger without rows, and can be repeated. A damaged or truncated
file is refused with the number of the line.

  createdb addrspec
  addrspec import ledger.ndjson.gz --database postgres://addrspec@db.example/addrspec

Points, keys, sessions and IDs are those of the ledger that was exported. Stop its
service before the export, and let only one of the two ledgers serve: each counts
points by itself.`

// Help returns the text that --help prints after the flags' summary.
func (importCmd) Help() string { return importHelp }

// Run imports the ledger and prints what was read.
func (c *importCmd) Run(ctx context.Context, std streams) error {
	line := newProgressLine(std.err, "import")
	in, err := c.open(std)
	if err != nil {
		return err
	}
	defer in.Close()
	counts, err := archive.Import(ctx, c.Database, line.countingReads(in))
	line.clear()
	if err != nil {
		return interrupted(fmt.Errorf("%s: %w", c.File, err))
	}
	_, err = fmt.Fprintf(std.out, "imported %s into %s\n", describeCounts(counts), c.redacted())
	return err
}

func (c *importCmd) open(std streams) (io.ReadCloser, error) {
	if c.File == "-" {
		return io.NopCloser(std.in), nil
	}
	return os.Open(c.File)
}
