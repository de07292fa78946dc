package main

import (
	"fmt"
	"os"
	"syscall"
)

// mountSmallDisk makes a disk of 16 MiB at dir, which takes root. The log that
// SQLite writes ahead takes 4 MiB of it before it is used anew.
func mountSmallDisk(dir string) (unmount func(), err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		return nil, fmt.Errorf("a full disk needs a small one to be mounted, which takes root: %w", err)
	}
	return func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }, nil
}
