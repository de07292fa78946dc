package service

import (
	"math"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFiles returns how many files the process may have open: the soft limit, which Go
// has raised to the hard one.
func openFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt
	}
	return int(min(limit.Cur, math.MaxInt))
}

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
