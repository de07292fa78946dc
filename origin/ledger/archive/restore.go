package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	codes "modernc.org/sqlite/lib"
)

// RestoreOptions change what Restore does.
type RestoreOptions struct {
	Force        bool     // replace the database that exists
	KeepSessions bool     // keep sessions, sign-in links and ceremonies in progress
	Progress     Progress // of the copy
}

// Restored is the result of Restore.
type Restored struct {
	Summary
	Kept string // the path of the database that was replaced; "" for none
}

var errInUse = errors.New("a process has the database open; stop the service first, and end commands that use it")

// Restore checks a backup and puts a copy of it at path. A process that is killed
// leaves what was at path before, or the whole copy. It refuses to replace a
// database that a process has open.
//
// Sessions and sign-in links in the copy are removed unless KeepSessions is set, because
// some of them were ended or used after the backup was made.
func Restore(ctx context.Context, backup, path string, o RestoreOptions) (r Restored, err error) {
	if err := requireOther(backup, path); err != nil {
		return r, err
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return r, err
	case !info.Mode().IsRegular():
		return r, fmt.Errorf("%s: it is not a file; give the database's own path", path)
	case !o.Force:
		return r, fmt.Errorf("%s: there is a database already; stop the service, then give --force to replace it, "+
			"which keeps the old file under another name", path)
	}
	old, err := lock(ctx, path) // until the new file is in place
	if err != nil {
		return r, err
	}
	defer old.Close()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return r, err
	}
	r.Summary, err = copyTo(ctx, backup, "ro", path, o.Force, o.Progress, func(file string) error {
		if !o.KeepSessions {
			db, err := openFile(file, "mode=rw&_pragma=journal_mode(MEMORY)&_pragma=secure_delete(1)")
			if err != nil {
				return err
			}
			_, err = db.ExecContext(ctx, "DELETE FROM sessions; DELETE FROM links; DELETE FROM challenges")
			if err := errors.Join(err, db.Close()); err != nil {
				return err
			}
		}
		if err := giveToOwner(file, path); err != nil || info == nil {
			return err
		}
		r.Kept = path + ".replaced-" + time.Now().UTC().Format("20060102T150405.000")
		return os.Link(path, r.Kept)
	})
	return r, err
}

// lock locks the database at path, which may be missing, until the result is closed. Of
// SQLite's files beside it nothing remains, because SQLite would apply an old write-ahead
// log to a new database. PRAGMA journal_mode = DELETE moves the log into the database. The
// pragma fails if a server uses the database, because every connection in WAL mode has a
// shared lock while it is open, also while it is idle (https://www.sqlite.org/wal.html).
// A database that is damaged or missing has no lock: its files beside it must be gone.
func lock(ctx context.Context, path string) (*sql.DB, error) {
	db, err := openFile(path, "mode=rw&_pragma=locking_mode(EXCLUSIVE)")
	if err != nil {
		return nil, err
	}
	// The locking mode keeps the lock that the transaction takes.
	_, err = db.ExecContext(ctx, "PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; COMMIT")
	if err == nil { // they are empty, or left by a killed process: SQLite does not use them in this mode
		_ = os.Remove(path + "-shm")
		_ = os.Remove(path + "-journal")
	}
	switch sqliteCode(err) {
	case codes.SQLITE_BUSY:
		err = fmt.Errorf("%s: %w", path, errInUse)
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB, codes.SQLITE_CANTOPEN:
		err = nil
		for _, end := range besideDatabase {
			if _, found := os.Lstat(path + end); found == nil {
				err = fmt.Errorf("%s is damaged or missing, but %s is there: %w; if none has, remove that file",
					path, path+end, errInUse)
			}
		}
	}
	if err != nil {
		return nil, errors.Join(explain(err), db.Close())
	}
	return db, nil
}
