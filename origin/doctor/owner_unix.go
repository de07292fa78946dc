//go:build unix

package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// ledgerSuffixes are what SQLite appends to the database's name for its log and the
// log's index.
var ledgerSuffixes = []string{"-wal", "-shm", "-journal"}

// owner is who may write a file by its mode.
type owner struct{ user, group uint32 }

func ownerOf(info fs.FileInfo) owner {
	s := info.Sys().(*syscall.Stat_t)
	return owner{s.Uid, s.Gid}
}

// Owners looks at whether the user that owns a SQLite file can write it, its log and
// its folder: a command that root ran may have left a log that the service cannot
// write.
func Owners(path string) error {
	info, err := os.Stat(path)
	if errors.Is(unix.Access(path, unix.W_OK), unix.EROFS) { // also of root
		return fmt.Errorf("%s is on a read-only file system, so the service cannot charge: see in the kernel's log why, and mount it for writing", path)
	}
	if err != nil || ownerOf(info).user == 0 {
		return nil // the check of the database says why; root can write everywhere
	}
	service := ownerOf(info)
	problems := []error{owns(path, service, 0o200), owns(filepath.Dir(path), service, 0o300)}
	for _, suffix := range ledgerSuffixes {
		problems = append(problems, owns(path+suffix, service, 0o200))
	}
	return errors.Join(problems...)
}

// owns returns an error unless the mode of a file gives a user the owner's
// permissions in need, such as 0o200 to write, in the class that decides for the
// user. A file that does not exist is fine.
func owns(path string, u owner, need fs.FileMode) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&needOf(u, ownerOf(info), need) == needOf(u, ownerOf(info), need) {
		return nil
	}
	return fmt.Errorf("the owner of the database (user %d) cannot write %s, so the service cannot charge: chown %d:%d %s, and chmod u+w",
		u.user, path, u.user, u.group, path)
}

// needOf returns the permissions that a user needs in the class that decides for it:
// the owner's, else the group's, else the others'.
func needOf(u, has owner, need fs.FileMode) fs.FileMode {
	switch {
	case u.user == has.user:
		return need
	case u.group == has.group:
		return need >> 3
	}
	return need >> 6
}

// Ours reports whether a folder belongs to the user of this process: files that it
// writes there can then be read by those who use the folder already.
func Ours(folder string) bool {
	info, err := os.Stat(folder)
	return err == nil && int(ownerOf(info).user) == os.Geteuid()
}
