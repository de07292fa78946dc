package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// sqliteAdvice is what an operator can do about an error, by its primary code.
var sqliteAdvice = map[int]string{
	codes.SQLITE_BUSY:     "another process has locked the database for too long; end it, or try again",
	codes.SQLITE_READONLY: "the file cannot be written; check its owner and mode, and those of its folder",
	codes.SQLITE_IOERR:    "reading or writing the disk failed; check that it is not full, then the disk itself",
	codes.SQLITE_CORRUPT:  "the file is damaged; restore it from a backup",
	codes.SQLITE_FULL:     "the disk is full; free some space, then the ledger continues by itself",
	codes.SQLITE_CANTOPEN: "the file cannot be opened; check the owner and mode of it and its folder, and that the file system is not read-only",
	codes.SQLITE_NOTADB:   "the file is not an SQLite database; give another path",
}

// explainSQLite adds advice to an error of SQLite, and ErrData if it is one of
// the data.
func explainSQLite(err error) error {
	switch primaryCode(err) {
	case codes.SQLITE_CONSTRAINT, codes.SQLITE_MISMATCH, codes.SQLITE_TOOBIG:
		return fmt.Errorf("%w: %w", store.ErrData, err)
	}
	if what := sqliteAdvice[primaryCode(err)]; what != "" {
		return fmt.Errorf("%s (%w)", what, err)
	}
	return err
}

func isBusy(err error) bool { return primaryCode(err) == codes.SQLITE_BUSY }

// primaryCode returns the low byte of SQLite's result code; the rest is detail.
func primaryCode(err error) int {
	var e *driver.Error
	if !errors.As(err, &e) {
		return codes.SQLITE_OK
	}
	return e.Code() & 0xff
}
