//go:build unix

package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// closedByServer reports whether the server has closed a connection, without reading
// from it.
func closedByServer(conn syscall.Conn) (closed bool) {
	socket, err := conn.SyscallConn()
	if err != nil {
		return true
	}
	err = socket.Read(func(fd uintptr) bool {
		n, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		closed = n == 0 && err == nil || err == unix.ECONNRESET
		return true
	})
	return closed || err != nil
}
