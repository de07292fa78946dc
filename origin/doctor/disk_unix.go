//go:build unix

package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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

// Disk looks at the space left where files are written. folders may not exist yet.
func Disk(folders ...string) Check {
	return Check{"disk", func(context.Context) (string, error) {
		var problems []error
		smallest := uint64(1) << 63
		for _, folder := range folders {
			left, err := diskOf(existing(folder))
			smallest = min(smallest, left)
			problems = append(problems, err)
		}
		return humanize.IBytes(smallest) + " left", errors.Join(problems...)
	}}
}

func diskOf(folder string) (left uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("%s: %w", folder, err)
	}
	left = uint64(s.Bavail) * uint64(s.Bsize)
	return left, space(folder, left, uint64(s.Ffree), uint64(s.Files))
}

// space returns an error if little is left. A file system without a fixed number of
// inodes reports none at all.
func space(folder string, left, inodesLeft, inodes uint64) error {
	switch {
	case left < leastBytes:
		return fmt.Errorf("%s has %s left: free space there, or charges will fail with 503 once it is full", folder, humanize.IBytes(left))
	case inodes > 0 && inodesLeft < leastInodes:
		return fmt.Errorf("%s has %d inodes left: remove files there, or no new one can be made", folder, inodesLeft)
	case left < soonBytes:
		return Advise("%s has %s left: free space there soon", folder, humanize.IBytes(left))
	}
	return nil
}

// existing returns the folder, or the nearest one above it that exists.
func existing(folder string) string {
	for {
		if _, err := os.Stat(folder); err == nil || folder == filepath.Dir(folder) {
			return folder
		}
		folder = filepath.Dir(folder)
	}
}
