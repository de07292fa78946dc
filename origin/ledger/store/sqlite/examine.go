package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// quickCheckLimit bounds the check of a file. A large one is checked in part.
const quickCheckLimit = 5 * time.Second

// Examine runs PRAGMA quick_check, which reads the whole file but for the indexes'
// contents, and looks at the journal mode.
func (s *sqlite) Examine(ctx context.Context) (e store.Examination, err error) {
	var version string
	if err := s.read.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return e, explainSQLite(err)
	}
	if wal, err := s.usesWAL(); err != nil {
		return e, err
	} else if !wal {
		e.Advice = append(e.Advice, errNoWAL)
	}
	checked, damage, err := s.quickCheck(ctx)
	if s.startedMeanwhile() {
		checked, damage, err = "not checked, since a service started meanwhile: run this again", nil, nil
	}
	if damage != nil {
		e.Wrong = append(e.Wrong, damage)
	}
	e.Summary = fmt.Sprintf("SQLite %s, %s", version, checked)
	return e, err
}

// errNoWAL is advice: commits are as durable in other journal modes, but readers and
// the writer wait for each other.
var errNoWAL = errors.New("its journal is not a write-ahead log: serve changes that at its start; if it is running, the file system does not support shared memory, so use a local disk")

func (s *sqlite) quickCheck(ctx context.Context) (checked string, damage, err error) {
	ctx, cancel := context.WithTimeout(ctx, quickCheckLimit)
	defer cancel()
	start := time.Now()
	var found string
	err = s.read.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found)
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("not checked whole: larger than %s allow", quickCheckLimit), nil, nil
	case err != nil:
		return "", nil, explainSQLite(err)
	case found != "ok":
		return "damaged", fmt.Errorf("the file is damaged (%s): stop the service and restore it from a backup", found), nil
	}
	return fmt.Sprintf("sound (checked in %s)", time.Since(start).Round(time.Millisecond)), nil, nil
}

// usesWAL reports whether the file's header names the write-ahead log as its
// journal (sqlite.org/fileformat2.html section 1.3.3). PRAGMA journal_mode does not
// report it for a file that was opened without locks.
func (s *sqlite) usesWAL() (bool, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return false, explainFile(err)
	}
	defer f.Close()
	var versions [2]byte // to write and to read
	const offset, wal = 18, 2
	if _, err := f.ReadAt(versions[:], offset); err != nil {
		return false, err
	}
	return versions[0] == wal && versions[1] == wal, nil
}

// startedMeanwhile reports whether another process has opened the file since it was
// opened without locks: what was read may be half of a change.
func (s *sqlite) startedMeanwhile() bool { return s.unlocked && s.hasLog() }
