//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package store

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lock locks a directory against other writers until unlock is called. The system frees
// the lock if the process ends. A file system without locks is used without.
func lock(dir string) (unlock func(), err error) {
	opened, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	unlock = func() { opened.Close() }
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		err := unix.Flock(int(opened.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return unlock, nil
		}
		if time.Now().After(end) {
			unlock()
			return nil, errBusy
		}
	}
}
