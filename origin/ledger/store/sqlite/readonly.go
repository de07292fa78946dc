package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// readOnlyDSN returns the name of the database for connections that write nothing.
//
// With a write-ahead log a service is running, or has crashed: such a connection
// reads the log and leaves it (sqlite.org/wal.html, "Read-only databases"). Without
// one it would make the log and its index and leave them behind, so the file is
// opened as one that does not change ("immutable" in sqlite.org/c3ref/open.html):
// without locks. unlocked records that, see startedMeanwhile.
func (s *sqlite) readOnlyDSN() string {
	s.unlocked = !s.hasLog()
	if s.unlocked {
		return fileDSN(s.path) + "?immutable=1"
	}
	return fmt.Sprintf("%s?mode=ro&_pragma=busy_timeout(%d)", fileDSN(s.path), busyTimeout.Milliseconds())
}

// hasLog reports whether there is a log of either journal mode.
func (s *sqlite) hasLog() bool {
	for _, suffix := range []string{"-wal", "-journal"} {
		if _, err := os.Stat(s.path + suffix); err == nil {
			return true
		}
	}
	return false
}

// startedMeanwhile reports whether another process has opened the file since it was
// opened without locks: what was read may be half of a change.
func (s *sqlite) startedMeanwhile() bool { return s.unlocked && s.hasLog() }

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

// explainFile adds what to do to an error of the operating system.
func explainFile(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: run this as the service's user, or give that user the folder and the files in it (chown)", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: mount it for writing, name the folder in ReadWritePaths= of the systemd unit, or choose another --database", err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: free space there", err)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: a part of the path is a file, not a folder; choose another --database", err)
	}
	return err
}
