package archive

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"time"

	"modernc.org/sqlite"
)

// A Progress gets how many of all pages were copied. It may be nil.
type Progress func(done, all int)

// Backup copies the ledger in the SQLite file at path to a new file, from one
// snapshot, and checks the copy. A server may charge meanwhile: in WAL mode readers
// and the writer do not wait for each other, only the write-ahead log grows until
// the copy ends.
//
// It uses SQLite's online backup inside a read transaction
// (https://www.sqlite.org/backup.html): without the transaction, every commit of
// another process would make it begin again. VACUUM INTO would also read one
// snapshot, but builds all indexes anew, shows no progress and cannot be paced.
func Backup(ctx context.Context, path, place string, force bool, progress Progress) (Summary, error) {
	if err := requireOther(path, place); err != nil {
		return Summary{}, err
	}
	file, err := CreateFile(place, force)
	if err != nil {
		return Summary{}, err
	}
	defer file.Discard()
	if err := copyDatabase(ctx, copying{from: path, mode: "rw", to: file.Name(), paced: true, sync: file.Sync, progress: progress}); err != nil {
		return Summary{}, err
	}
	s, err := Verify(ctx, file.Name())
	if err != nil {
		return Summary{}, fmt.Errorf("the copy of %s is not in order: %w", path, err)
	}
	return s, file.Finish()
}

// requireOther returns an error if place is the database itself.
func requireOther(path, place string) error {
	a, err := os.Stat(path)
	if err != nil {
		return nil // opening it explains more
	}
	if b, err := os.Stat(place); err == nil && os.SameFile(a, b) {
		return fmt.Errorf("%s is the database itself; give another name", place)
	}
	return nil
}

// A copying is one copy of a ledger.
type copying struct {
	from, mode string       // "rw" for a ledger that a server may write
	to         string       // an empty file
	paced      bool         // leave time to a server
	sync       func() error // flushes what is copied so far
	progress   Progress
}

// copyDatabase copies a ledger. The copy is in rollback mode: it needs no file
// beside it, and can be read from a medium that is read-only.
func copyDatabase(ctx context.Context, c copying) error {
	db, err := openFile(c.from, c.mode, "query_only(1)")
	if err != nil {
		return err
	}
	defer db.Close()
	if err := c.snapshot(ctx, db); err != nil {
		return fmt.Errorf("database %q: %w", c.from, explainSQLite(err))
	}
	return explainSQLite(leaveWAL(ctx, c.to))
}

// snapshot copies what one read transaction sees.
func (c copying) snapshot(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	if _, err := ledgerVersion(ctx, conn); err != nil { // this read takes the snapshot
		return err
	}
	return conn.Raw(func(from any) error { return c.pages(ctx, from.(backuper)) })
}

// backuper is implemented by the driver's connections.
type backuper interface {
	NewBackup(to string) (*sqlite.Backup, error)
}

// pagesAtOnce bounds how long the copy runs before it pauses: 1 MiB.
const pagesAtOnce = 256

// pages pauses after each step for as long as the step took if the copy is paced, so
// that at most half of a processor's and of the disk's time is taken from a server.
func (c copying) pages(ctx context.Context, from backuper) error {
	b, err := from.NewBackup(fileURL(c.to, "mode=rw", "journal_mode(OFF)", "synchronous(OFF)"))
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		began := time.Now()
		more, err = b.Step(pagesAtOnce)
		if c.progress != nil {
			c.progress(b.PageCount()-b.Remaining(), b.PageCount())
		}
		if more && err == nil {
			err = c.rest(ctx, began)
		}
	}
	return finish(b, err)
}

// rest flushes what was copied since began, since a flush of the whole file at the
// end would keep the server's commits from the disk, and pauses.
func (c copying) rest(ctx context.Context, began time.Time) error {
	if !c.paced {
		return ctx.Err()
	}
	if err := c.sync(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Since(began)):
		return nil
	}
}

func finish(b *sqlite.Backup, err error) error {
	var conn driver.Conn
	var failed error
	if conn, failed = b.Commit(); failed == nil {
		failed = conn.Close()
	}
	return errors.Join(err, failed)
}

// leaveWAL sets the copy's mode from that of its source, WAL, to the rollback
// journal. [NewFile.Finish] makes it durable.
func leaveWAL(ctx context.Context, path string) error {
	db, err := openFile(path, "rw", "synchronous(OFF)")
	if err != nil {
		return err
	}
	var mode string
	err = db.QueryRowContext(ctx, "PRAGMA journal_mode = DELETE").Scan(&mode)
	return errors.Join(err, db.Close())
}
