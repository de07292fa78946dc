//go:build !linux

package main

import (
	"errors"
	"net"
)

// turnAway is had on Linux alone; elsewhere a connection that comes in the very
// moment of the end is reset.
func turnAway(net.Listener) error { return errors.ErrUnsupported }
