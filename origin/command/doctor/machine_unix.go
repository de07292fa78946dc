//go:build unix

package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"
)

// Disk looks at the space left where files are written. Directories that do not exist yet
// are on the disk of the nearest directory above.
func Disk(directories ...string) Check {
	return Check{"disk", func(context.Context) (string, error) {
		var problems []error
		smallest := uint64(1) << 63
		for _, directory := range directories {
			for {
				if _, err := os.Stat(directory); err == nil || directory == filepath.Dir(directory) {
					break
				}
				directory = filepath.Dir(directory)
			}
			var s unix.Statfs_t
			if err := unix.Statfs(directory, &s); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", directory, err))
				continue
			}
			left := uint64(s.Bavail) * uint64(s.Bsize)
			smallest = min(smallest, left)
			problems = append(problems, space(directory, left, uint64(s.Ffree), uint64(s.Files)))
		}
		return humanize.IBytes(smallest) + " left", errors.Join(problems...)
	}}
}

// space returns an error if little is left. A commit that finds no space makes the ledger
// unavailable, and its write-ahead log grows up to the size of what a long read holds back.
// A file system without a fixed number of inodes reports none at all.
func space(directory string, left, inodesLeft, inodes uint64) error {
	switch {
	case left < 256<<20:
		return fmt.Errorf("%s has %s left: free space there, or charges will fail with 503 once it is full", directory, humanize.IBytes(left))
	case inodes > 0 && inodesLeft < 1000:
		return fmt.Errorf("%s has %d inodes left: remove files there, or no new one can be made", directory, inodesLeft)
	case left < 1<<30:
		return Advise("%s has %s left: free space there soon", directory, humanize.IBytes(left))
	}
	return nil
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

// Ours reports whether a directory belongs to the user of this process: files that it
// writes there can then be read by those who use the directory already.
func Ours(directory string) bool {
	info, err := os.Stat(directory)
	return err == nil && int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid()
}
