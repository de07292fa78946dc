package main

import (
	"os/exec"
	"syscall"
)

// openFiles returns how many files this process may open. Go has raised the limit as
// far as it may.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30))
}

// dieWithParent has the system kill the child when this process ends, however it
// ends.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
