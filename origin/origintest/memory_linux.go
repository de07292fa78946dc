package origintest

import "syscall"

// memory is where Linux has a file system in memory.
const memory = "/dev/shm"

// memoryHasRoom reports whether it has room for the databases of tests that run at the
// same time. A container may have 64 MB of it.
func memoryHasRoom() bool {
	const room = 256 << 20
	var s syscall.Statfs_t
	return syscall.Statfs(memory, &s) == nil && s.Bavail*uint64(s.Bsize) >= room
}
