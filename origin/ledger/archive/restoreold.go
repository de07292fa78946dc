package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	codes "modernc.org/sqlite/lib"
)

// ErrInUse is the error of a restore over a database that a process has open.
var ErrInUse = errors.New("a process has the database open; stop the service first, and end commands that use it")

// closeOld prepares the database at path for its replacement: nothing may remain
// beside it, since SQLite would apply an old write-ahead log to the new file. The
// database stays locked until the result is closed.
//
// PRAGMA journal_mode = DELETE moves the log into the file and removes it. It needs the exclusive lock, and every connection in WAL mode has a
// shared one while it is open, also while it is idle: so the pragma fails if a
// server uses the database (https://www.sqlite.org/wal.html).
func closeOld(ctx context.Context, path string) (io.Closer, error) {
	db, err := openFile(path, "rw", "locking_mode(EXCLUSIVE)")
	if err != nil {
		return nil, err
	}
	err = lockAlone(ctx, db)
	switch sqliteCode(err) {
	case codes.SQLITE_OK:
		if err == nil {
			return db, removeIndex(path)
		}
	case codes.SQLITE_BUSY:
		err = fmt.Errorf("%s: %w", path, ErrInUse)
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return closed{}, errors.Join(db.Close(), setAside(path))
	}
	return nil, errors.Join(explainSQLite(err), db.Close())
}

func lockAlone(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = DELETE").Scan(&mode); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "BEGIN EXCLUSIVE; COMMIT") // the locking mode keeps the lock
	return err
}

// closed is the lock of a damaged database, which SQLite cannot lock.
type closed struct{}

func (closed) Close() error { return nil }

// setAside renames what is beside a database that is damaged or missing, if no
// process uses it.
func setAside(path string) error {
	end := replacedEnd()
	for _, beside := range besideDatabase {
		if err := os.Rename(path+beside, path+beside+end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// replacedEnd ends the names of files that a restore has replaced.
func replacedEnd() string { return ".replaced-" + time.Now().UTC().Format("20060102T150405.000") }

// requireUnlocked asks for locks without SQLite, which cannot lock a damaged file.
func requireUnlocked(path string) error {
	for _, name := range []string{path, path + "-shm"} {
		locked, err := lockedByOthers(name)
		if err != nil {
			return err
		}
		if locked {
			return fmt.Errorf("%s: %w", path, ErrInUse)
		}
	}
	return nil
}

// removeIndex removes the index of the write-ahead log that a killed process left.
// SQLite leaves it, since in exclusive locking mode it has the index in memory.
func removeIndex(path string) error {
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
