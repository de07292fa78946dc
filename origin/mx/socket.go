package mx

import (
	"io"
	"net"
	"time"
)

// socket is a connected UDP socket.
type socket interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
	SetReadDeadline(time.Time) error
}

// dialNet opens a socket to the server, where dial does not do it itself. Nothing waits
// here, since a UDP socket sends nothing to connect. A Dialer would work on the address
// for each query.
func (s *server) dialNet() (socket, error) {
	conn, err := net.DialUDP("udp", nil, s.udp)
	if err != nil {
		return nil, err // not conn, which would be a socket that is not nil
	}
	return conn, nil
}
