package main

import (
	"fmt"
	"os"
	"syscall"
)

// mountSmallDisk mounts a disk of 16 MiB at dir, which only root may do. SQLite's
// write-ahead log grows to 4 MiB before it is reused.
func mountSmallDisk(dir string) (unmount func(), err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		return nil, fmt.Errorf("the full disk is a small one, which only root can mount: %w", err)
	}
	return func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }, nil
}
