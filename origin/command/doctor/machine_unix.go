//go:build unix

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"
)

// Space that is left on a disk. A commit that finds no space makes the ledger
// unavailable, and its write-ahead log grows up to the size of what a long read
// holds back.
const (
	leastBytes  = 256 << 20
	soonBytes   = 1 << 30
	leastInodes = 1000
)

// Disk looks at the space left where files are written. directories may not exist yet.
func Disk(directories ...string) Check {
	return Check{"disk", func(context.Context) (string, error) {
		var problems []error
		smallest := uint64(1) << 63
		for _, directory := range directories {
			left, err := diskOf(existing(directory))
			smallest = min(smallest, left)
			problems = append(problems, err)
		}
		return humanize.IBytes(smallest) + " left", errors.Join(problems...)
	}}
}

func diskOf(directory string) (left uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(directory, &s); err != nil {
		return 0, fmt.Errorf("%s: %w", directory, err)
	}
	left = uint64(s.Bavail) * uint64(s.Bsize)
	return left, space(directory, left, uint64(s.Ffree), uint64(s.Files))
}

// space returns an error if little is left. A file system without a fixed number of
// inodes reports none at all.
func space(directory string, left, inodesLeft, inodes uint64) error {
	switch {
	case left < leastBytes:
		return fmt.Errorf("%s has %s left: free space there, or charges will fail with 503 once it is full", directory, humanize.IBytes(left))
	case inodes > 0 && inodesLeft < leastInodes:
		return fmt.Errorf("%s has %d inodes left: remove files there, or no new one can be made", directory, inodesLeft)
	case left < soonBytes:
		return Advise("%s has %s left: free space there soon", directory, humanize.IBytes(left))
	}
	return nil
}

// existing returns the directory, or the nearest one above it that exists.
func existing(directory string) string {
	for {
		if _, err := os.Stat(directory); err == nil || directory == filepath.Dir(directory) {
			return directory
		}
		directory = filepath.Dir(directory)
	}
}

// Limits looks at whether the process may open the files that the service needs; see
// service.FilesNeeded. Go raises the soft limit to the hard one at its start.
func Limits(connections, lookups, needed int) Check {
	return Check{"limits", func(context.Context) (string, error) {
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			return "", err
		}
		if uint64(limit.Max) < uint64(needed) { // FreeBSD has int64
			return "", fmt.Errorf("a process may open %d files, and --max-connections %d with --dns-concurrency %d need %d, so serve lowers them: raise the limit (LimitNOFILE= in the unit, ulimit -Hn), or lower --max-connections",
				limit.Max, connections, lookups, needed)
		}
		return fmt.Sprintf("%d connections and %d lookups fit into %d open files", connections, lookups, limit.Max), nil
	}}
}

// Files looks at the modes of files: secrets are for their owner alone, and nobody
// else may change the others. Files that do not exist are left out.
func Files(secret, settings []string) Check {
	return Check{"files", func(context.Context) (string, error) {
		var problems []error
		looked := 0
		for _, path := range append(append([]string(nil), secret...), settings...) {
			forbidden := fs.FileMode(0o022)
			if looked < len(secret) {
				forbidden = 0o077
			}
			looked++
			problems = append(problems, modeOf(path, forbidden))
		}
		return "only their owner can read the ledger and secrets, or change settings", errors.Join(problems...)
	}}
}

// modeOf returns an error if a file has a forbidden permission, or others may
// replace it because they can write in its directory.
func modeOf(path string, forbidden fs.FileMode) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot look at %s: %w", path, err)
	}
	if mode := info.Mode(); mode.Perm()&forbidden != 0 {
		what := "other users of this machine can change it"
		if mode.Perm()&forbidden&0o044 != 0 {
			what = "other users of this machine can read it"
		}
		return fmt.Errorf("%s has mode %04o, so %s: chmod %04o %s", path, mode.Perm(), what, mode.Perm()&^forbidden, path)
	}
	directory := filepath.Dir(path)
	if info, err := os.Stat(directory); err == nil && info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("%s has mode %04o, so other users of this machine can replace the files in it: chmod go-w %s", directory, info.Mode().Perm(), directory)
	}
	return nil
}

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
// its directory: a command that root ran may have left a log that the service cannot
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

// Ours reports whether a directory belongs to the user of this process: files that it
// writes there can then be read by those who use the directory already.
func Ours(directory string) bool {
	info, err := os.Stat(directory)
	return err == nil && int(ownerOf(info).user) == os.Geteuid()
}
