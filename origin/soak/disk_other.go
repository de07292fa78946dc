//go:build !linux

package main

import "errors"

// mountSmallDisk is implemented for Linux only.
func mountSmallDisk(string) (unmount func(), err error) {
	return nil, errors.New("a full disk needs Linux and root")
}
