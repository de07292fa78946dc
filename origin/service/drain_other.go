//go:build !linux

package service

import (
	"errors"
	"math"
	"net"
)

// openFiles is implemented for Linux only. Elsewhere there is no limit that counts.
func openFiles() int { return math.MaxInt }

// refuseConnections is implemented for Linux only. Elsewhere a connection that
// arrives while the listener is closed is reset.
func refuseConnections(net.Listener) error { return errors.ErrUnsupported }
