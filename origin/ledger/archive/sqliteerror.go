package archive

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// sqliteAdvice is what an operator can do about an error, by its primary code.
var sqliteAdvice = map[int]string{
	codes.SQLITE_BUSY:     "another process has locked the database; end it, or try again",
	codes.SQLITE_IOERR:    "reading or writing the disk failed; check the disk",
	codes.SQLITE_CORRUPT:  "the file is damaged; use another backup",
	codes.SQLITE_FULL:     "the disk is full; free some space and try again",
	codes.SQLITE_CANTOPEN: "the file cannot be opened; check its mode, and that of its folder",
	codes.SQLITE_NOTADB:   "the file is not an SQLite database",
}

// explainSQLite adds advice to an error of SQLite.
func explainSQLite(err error) error {
	if what := sqliteAdvice[sqliteCode(err)]; what != "" {
		return fmt.Errorf("%s (%w)", what, err)
	}
	return err
}

// sqliteCode returns the low byte of SQLite's result code; the rest is detail.
func sqliteCode(err error) int {
	var e *driver.Error
	if !errors.As(err, &e) {
		return codes.SQLITE_OK
	}
	return e.Code() & 0xff
}
