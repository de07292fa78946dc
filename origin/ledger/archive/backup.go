package archive

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A Progress gets how many of all bytes were copied. It may be nil.
type Progress func(done, all int64)

const progressEvery = 200 * time.Millisecond

// Backup copies the ledger in the SQLite file at path to a new file, from one snapshot,
// and checks the copy. A server may charge meanwhile: in WAL mode readers and the writer
// do not wait for each other, only the write-ahead log grows until the copy ends. The
// ledger may be of an earlier schema.
func Backup(ctx context.Context, path, place string, force bool, progress Progress) (Summary, error) {
	if err := requireOther(path, place); err != nil {
		return Summary{}, err
	}
	s, err := copyTo(ctx, path, "rw", place, force, progress, func(string) error { return nil })
	if err != nil {
		return s, err
	}
	// A new file takes the place of the old one. The service's user may write there, and root, who makes
	// the backup, must not follow a link of theirs.
	note, err := CreateFile(stamp(path), true)
	if err == nil {
		defer note.Discard()
		err = note.Finish()
	}
	if err != nil {
		return s, fmt.Errorf("the backup is complete, but when it was made could not be noted for /metrics: %w", err)
	}
	return s, nil
}

// stamp is an empty file beside the ledger, whose time is that of the last backup. A row would be in the
// copies too, and a restore would bring its time back.
func stamp(path string) string { return path + "-backup" }

// LastBackup returns when the ledger in the SQLite file at path was last backed up; zero for never.
func LastBackup(path string) time.Time {
	info, err := os.Stat(stamp(path))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// copyTo copies the ledger at path to a new file, and lets finish change the copy once it is
// checked. The copy is in rollback mode: it needs no file beside it, and can be read from a
// medium that is read-only.
func copyTo(ctx context.Context, path, mode, place string, force bool, progress Progress,
	finish func(path string) error) (s Summary, err error) {
	if err := requireLedger(ctx, "sqlite:"+path); err != nil && !errors.Is(err, store.ErrOldSchema) {
		return s, err
	}
	file, err := CreateFile(place, force)
	if err != nil {
		return s, err
	}
	defer file.Discard()
	db, err := openFile(path, "mode="+mode)
	if err != nil {
		return s, err
	}
	defer db.Close()
	all, err := checkFile(ctx, db, path)
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, explain(err))
	}
	done := make(chan error, 1)
	go func() {
		_, err := db.ExecContext(ctx, "VACUUM INTO ?", file.Name())
		done <- cmp.Or(ctx.Err(), err)
	}()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for copying := true; copying; {
		select {
		case err = <-done:
			copying = false
		case <-tick.C:
			// A flush of the whole file at the end would keep the server's commits from the disk.
			info, err := file.Stat()
			if err == nil && file.Sync() == nil && progress != nil {
				progress(min(info.Size(), all), all)
			}
		}
	}
	if err == nil {
		s, err = summarize(ctx, file.Name())
	}
	if err == nil {
		err = finish(file.Name())
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, explain(err))
	}
	return s, file.Finish()
}

// checkFile returns the size of a database that is not damaged. A copy would hide what is wrong with it.
func checkFile(ctx context.Context, db *sql.DB, path string) (size int64, err error) {
	var result string
	err = db.QueryRowContext(ctx, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").Scan(&size)
	if err == nil {
		err = db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&result)
	}
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	log, err := os.Stat(path + "-wal") // where the newest pages may be
	if info.Size() < size && (err != nil || log.Size() == 0) {
		result = "its end is missing"
	}
	if result != "ok" {
		return 0, fmt.Errorf("%w (%s)", errCorrupt, result)
	}
	return size, nil
}

// A Summary is what an operator may want to know of an SQLite ledger.
type Summary struct {
	Schema   int
	Accounts int
	Keys     int
	LastDay  time.Time // of the usage history; zero if it is empty
	SealedBy []string  // IDs of the keys that seal secrets in it, see store.Sealer
}

var errCorrupt = errors.New("the file is damaged; use another backup")

// summarize changes nothing.
func summarize(ctx context.Context, path string) (s Summary, err error) {
	db, err := openFile(path, "mode=ro")
	if err != nil {
		return s, err
	}
	defer db.Close()
	var sealed string
	var orphans, day int64
	err = db.QueryRowContext(ctx, `SELECT user_version, (SELECT count(*) FROM pragma_foreign_key_check),
		(SELECT count(*) FROM accounts), (SELECT count(*) FROM keys), (SELECT coalesce(max(day), 0) FROM usage),
		(SELECT coalesce(group_concat(DISTINCT substr(secret, 9, 8)), '') FROM (SELECT totp AS secret FROM users
			UNION ALL SELECT secret FROM webhooks UNION ALL SELECT previous FROM webhooks)
			WHERE secret LIKE 'sealed1.%')
		FROM pragma_user_version`).Scan(&s.Schema, &orphans, &s.Accounts, &s.Keys, &day, &sealed)
	switch {
	case err != nil:
		return s, fmt.Errorf("it is not a ledger of addrspec: %w", err)
	case orphans > 0:
		return s, fmt.Errorf("%w (%d rows refer to rows that do not exist)", errCorrupt, orphans)
	case day > 0:
		s.LastDay = time.Unix(day*86400, 0).UTC()
	}
	for _, t := range tables {
		if s.Schema == store.Version {
			_, err = db.ExecContext(ctx, "SELECT "+strings.Join(t.columns, ", ")+" FROM "+t.name+" LIMIT 0")
		}
		if err != nil {
			return s, fmt.Errorf("%w (%w)", errCorrupt, err)
		}
	}
	s.SealedBy = strings.FieldsFunc(sealed, func(r rune) bool { return r == ',' })
	return s, nil
}
