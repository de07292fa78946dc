package main

import (
	"math"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// turnAway closes the port to newcomers: it ties the listener to a network
// device that does not exist, so the system refuses new connections as it does
// where nobody listens, and keeps those that wait to be accepted.
func turnAway(listener net.Listener) error {
	socket, err := listener.(syscall.Conn).SyscallConn()
	if err != nil {
		return err
	}
	controlErr := socket.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_BINDTOIFINDEX, math.MaxInt32)
	})
	if controlErr != nil {
		return controlErr
	}
	return err
}
