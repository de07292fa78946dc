package archive

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
	s, err := verifyFile(ctx, file.Name())
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

// A Summary is what an operator may want to know of an SQLite ledger.
type Summary struct {
	Schema   int
	Accounts int
	Keys     int
	Points   int64     // of the usage history
	LastDay  time.Time // of the usage history; zero if it is empty
	SealedBy []string  // IDs of the keys that seal secrets in it, see store.Sealer
}

// verifyFile checks that the file at path is a ledger of this or an earlier release and
// is not damaged. It creates and changes nothing.
func verifyFile(ctx context.Context, path string) (s Summary, err error) {
	db, err := openFile(path, "ro", "query_only(1)")
	if err != nil {
		return s, err
	}
	defer db.Close()
	err = db.PingContext(ctx)
	if err == nil {
		s, err = verify(ctx, db)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, explainSQLite(err))
	}
	return s, nil
}

func verify(ctx context.Context, db *sql.DB) (s Summary, err error) {
	if s.Schema, err = ledgerVersion(ctx, db); err != nil {
		return s, err
	}
	if err := checkIntegrity(ctx, db); err != nil {
		return s, err
	}
	var day int64
	err = db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM keys),
		(SELECT coalesce(sum(points), 0) FROM usage), (SELECT coalesce(max(day), 0) FROM usage)`).Scan(&s.Accounts, &s.Keys, &s.Points, &day)
	if day > 0 {
		s.LastDay = time.Unix(0, 0).UTC().AddDate(0, 0, int(day))
	}
	if err == nil && s.Schema >= schemaOfSecrets {
		s.SealedBy, err = sealedBy(ctx, db)
	}
	return s, err
}

// schemaOfSecrets is the first schema with secrets that can be sealed.
const schemaOfSecrets = 5

// sealedBy returns the IDs of the keys that seal secrets.
func sealedBy(ctx context.Context, db *sql.DB) (ids []string, err error) {
	rows, err := db.QueryContext(ctx, `SELECT DISTINCT substr(secret, 9, 8)
		FROM (SELECT totp AS secret FROM users UNION ALL SELECT secret FROM webhooks UNION ALL SELECT previous FROM webhooks)
		WHERE substr(secret, 1, 8) = 'sealed1.' ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// errCorrupt is the error of a ledger whose pages or rows contradict each other.
var errCorrupt = errors.New("the file is damaged; use another backup")

// checkIntegrity reads all pages, and looks up all references between rows
// (https://www.sqlite.org/pragma.html).
func checkIntegrity(ctx context.Context, db *sql.DB) error {
	var result string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&result); err != nil {
		return err
	}
	if result != "ok" {
		return fmt.Errorf("%w (%s)", errCorrupt, result)
	}
	var orphans int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM pragma_foreign_key_check").Scan(&orphans); err != nil {
		return err
	}
	if orphans > 0 {
		return fmt.Errorf("%w (%d rows refer to rows that do not exist)", errCorrupt, orphans)
	}
	return nil
}

// errExists is the error of a copy to a file that exists.
var errExists = errors.New("it exists already; give another name, or --force to replace it")

// A NewFile is written beside its final place, with mode 0600, and moved there when
// it is whole: the place has the old file or the new one, never a part.
type NewFile struct {
	*os.File
	place string
	force bool
}

// part is in the names of files that are being written.
const part = ".part-"

// staleAfter is when a file that is being written was abandoned: its process was
// killed.
const staleAfter = 24 * time.Hour

// CreateFile starts a file. Unless force is set, place must not exist.
func CreateFile(place string, force bool) (*NewFile, error) {
	if place == "" || place == "-" {
		return nil, errors.New("give the name of a file")
	}
	n := &NewFile{place: place, force: force}
	if err := n.requirePlace(); err != nil {
		return nil, err
	}
	removeStale(place)
	file, err := os.CreateTemp(filepath.Dir(place), filepath.Base(place)+part+"*") // mode 0600
	n.File = file
	return n, err
}

// requirePlace returns an error if the file may not be put there.
func (n *NewFile) requirePlace() error {
	info, err := os.Lstat(n.place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory; give the name of a file in it", n.place)
	case !n.force:
		return fmt.Errorf("%s: %w", n.place, errExists)
	}
	return requireNoDatabase(n.place)
}

// requireNoDatabase keeps --force from replacing a database that a server uses:
// SQLite's files beside it exist while it is open.
func requireNoDatabase(place string) error {
	for _, beside := range besideDatabase {
		if _, err := os.Lstat(place + beside); err == nil {
			return fmt.Errorf("%s is a database that is in use: %s%s exists; give another name", place, place, beside)
		}
	}
	return nil
}

// besideDatabase are the ends of the names of SQLite's files beside a database.
var besideDatabase = []string{"-wal", "-shm", "-journal"}

// removeStale removes what killed processes left.
func removeStale(place string) {
	left, _ := filepath.Glob(escapeGlob(place) + part + "*")
	for _, name := range left {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(name)
		}
	}
}

// Finish moves the file to its place. The file and the directory's entry are on disk
// then.
func (n *NewFile) Finish() error {
	if err := errors.Join(n.Sync(), n.File.Close(), n.requirePlace()); err != nil {
		return err
	}
	if err := os.Rename(n.Name(), n.place); err != nil {
		return err
	}
	return syncDirectory(n.place)
}

// Discard closes and removes the file, unless it was finished.
func (n *NewFile) Discard() {
	_ = n.File.Close()
	for _, end := range append([]string{""}, besideDatabase...) {
		_ = os.Remove(n.Name() + end)
	}
}

// syncDirectory makes a rename durable.
func syncDirectory(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// escapeGlob makes filepath.Glob match a name as it is.
func escapeGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}
