//go:build !linux

package service

import (
	"errors"
	"net"
)

// refuseConnections is implemented for Linux only. Elsewhere a connection that
// arrives while the listener is closed is reset.
func refuseConnections(net.Listener) error { return errors.ErrUnsupported }
