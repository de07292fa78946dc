package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
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

// Restore checks a backup and puts a copy of it at path. A process that is killed
// leaves what was at path before, or the whole copy. It refuses to replace a
// database that a process has open.
//
// Sessions and sign-in links in the copy are removed unless KeepSessions is set:
// some of them were ended or used after the backup was made.
func Restore(ctx context.Context, backup, path string, o RestoreOptions) (r Restored, err error) {
	if err := requireOther(backup, path); err != nil {
		return r, err
	}
	if err := requireFree(path, o.Force); err != nil {
		return r, err
	}
	if err := requireUnlocked(path); err != nil {
		return r, err
	}
	if _, err := verifyFile(ctx, backup); err != nil {
		return r, err
	}
	file, err := createBeside(path)
	if err != nil {
		return r, err
	}
	defer file.Discard()
	if r.Summary, err = fillCopy(ctx, backup, file, o); err != nil {
		return r, err
	}
	r.Kept, err = place(ctx, file, path)
	return r, err
}

// errDatabaseExists is the error of a restore over a database.
var errDatabaseExists = errors.New("there is a database already; stop the service, then give --force to replace it, which keeps the old file under another name")

// requireFree returns an error if the restored ledger may not be put at path.
func requireFree(path string, force bool) error {
	if path == "" {
		return errors.New("give the path of a file, as in sqlite:data/addrspec.db")
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: it is not a file; give the database's own path", path)
	case !force:
		return fmt.Errorf("%s: %w", path, errDatabaseExists)
	}
	return nil
}

// createBeside creates the file that becomes the database, and its directory.
func createBeside(path string) (*NewFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	removeStale(path)
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+part+"*")
	if err != nil {
		return nil, err
	}
	return &NewFile{File: file, place: path}, nil
}

// fillCopy copies the backup into file, removes what must not return, and checks it.
func fillCopy(ctx context.Context, backup string, file *NewFile, o RestoreOptions) (Summary, error) {
	if err := copyDatabase(ctx, copying{from: backup, mode: "ro", to: file.Name(), progress: o.Progress}); err != nil {
		return Summary{}, err
	}
	if !o.KeepSessions {
		if err := removeSessions(ctx, file.Name()); err != nil {
			return Summary{}, explainSQLite(err)
		}
	}
	s, err := verifyFile(ctx, file.Name())
	if err == nil {
		err = errors.Join(giveToOwner(file.Name(), file.place), file.Sync())
	}
	return s, err
}

// sessionTables are the tables of what signs a person in without a further factor.
// Schemas before version 5 have none of them.
var sessionTables = []string{"sessions", "links", "challenges"}

func removeSessions(ctx context.Context, path string) error {
	db, err := openFile(path, "rw", "journal_mode(DELETE)", "synchronous(OFF)", "secure_delete(1)")
	if err != nil {
		return err
	}
	for _, name := range sessionTables {
		var found int
		err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = $1", name).Scan(&found)
		if err == nil && found > 0 {
			_, err = db.ExecContext(ctx, "DELETE FROM "+name)
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, db.Close())
}

// place moves the file to path. The database that was there is kept under another
// name.
func place(ctx context.Context, file *NewFile, path string) (kept string, err error) {
	if err := requireUnlocked(path); err != nil {
		return "", err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := setAside(path); err != nil {
			return "", err
		}
		return "", rename(file, path)
	}
	old, err := closeOld(ctx, path)
	if err != nil {
		return "", err
	}
	defer old.Close() // keeps the lock until the new file is in place
	kept = path + replacedEnd()
	if err := os.Link(path, kept); err != nil {
		return "", fmt.Errorf("keep the old database: %w", err)
	}
	return kept, rename(file, path)
}

func rename(file *NewFile, path string) error {
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncDirectory(path)
}

// errInUse is the error of a restore over a database that a process has open.
var errInUse = errors.New("a process has the database open; stop the service first, and end commands that use it")

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
		err = fmt.Errorf("%s: %w", path, errInUse)
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
			return fmt.Errorf("%s: %w", path, errInUse)
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
