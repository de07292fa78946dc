package origintest

import (
	"os/exec"
	"syscall"
)

// DieWithParent has the system kill the child when this process ends, however it ends.
func DieWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// memory is where Linux has a file system in memory.
const memory = "/dev/shm"

// memoryHasRoom reports whether it has room for the databases of tests that run at the
// same time. A container may have 64 MB of it.
func memoryHasRoom() bool {
	const room = 256 << 20
	var s syscall.Statfs_t
	return syscall.Statfs(memory, &s) == nil && s.Bavail*uint64(s.Bsize) >= room
}
