//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package store

// lock does nothing: only one program may write to a directory on this system.
func lock(string) (unlock func(), err error) { return func() {}, nil }
