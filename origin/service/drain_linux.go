package service

import (
	"math"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// refuseConnections makes the system refuse new connections, as on a port that
// has no listener, and keep those that wait to be accepted. It binds the listener
// to a network device that does not exist.
func refuseConnections(listener net.Listener) error {
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
