package main

import (
	"os/exec"
	"syscall"
)

// dieWithParent leaves no process behind, however this one ends.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
