//go:build unix

package archive

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockedByOthers reports whether another process has a lock on the file. SQLite's
// connections lock bytes of the database (https://www.sqlite.org/lockingv3.html)
// and, in WAL mode, of the file -shm while they are open. It also works for a
// damaged database, and is false for a file that does not exist.
func lockedByOthers(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart} // of the whole file: length 0
	err = unix.FcntlFlock(file.Fd(), unix.F_GETLK, &lock)          // asks, and acquires nothing
	return err == nil && lock.Type != unix.F_UNLCK, err
}

// giveToOwner gives the file to the owner of the one at place, or of its directory, so
// that a service with a user of its own can open what root has restored.
func giveToOwner(path, place string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(place)
	if errors.Is(err, os.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(place))
	}
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}
