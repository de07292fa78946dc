//go:build !linux

package origintest

import "os/exec"

// DieWithParent does nothing: only Linux offers it. Elsewhere the child is killed when
// this process ends in order.
func DieWithParent(*exec.Cmd) {}

const memory = ""

func memoryHasRoom() bool { return false }
