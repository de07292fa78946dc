//go:build !linux

package origintest

const memory = ""

func memoryHasRoom() bool { return false }
