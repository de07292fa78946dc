package mx

import (
	"io"
	"os"
	"syscall"
)

// dial opens a socket of its own for one query, at a random port of the kernel's choice.
// It is connected, so that the kernel drops datagrams from other addresses.
//
// It needs four system calls: socket, connect, fcntl and epoll_ctl. [net.DialUDP] needs
// six: it allows broadcasts and asks the kernel for both addresses.
func (s *server) dial() (socket, error) {
	family, address := s.sockaddr()
	if address == nil {
		return s.dialNet()
	}
	fd, err := syscall.Socket(family, syscall.SOCK_DGRAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := syscall.Connect(fd, address); err != nil {
		syscall.Close(fd)
		return nil, os.NewSyscallError("connect", err)
	}
	return datagrams{os.NewFile(uintptr(fd), "udp")}, nil
}

// sockaddr returns the server's address for the system, which writes to it, or nil if
// the address has a zone: an interface, whose number may change.
func (s *server) sockaddr() (family int, address syscall.Sockaddr) {
	port, ip := s.udp.Port, s.udp.IP
	switch ip4 := ip.To4(); {
	case s.udp.Zone != "":
		return 0, nil
	case ip4 != nil:
		return syscall.AF_INET, &syscall.SockaddrInet4{Port: port, Addr: [4]byte(ip4)}
	}
	return syscall.AF_INET6, &syscall.SockaddrInet6{Port: port, Addr: [16]byte(ip)}
}

// datagrams is a socket that the runtime's poller knows as a file.
type datagrams struct{ *os.File }

// Read reads one datagram. An empty one is no end of file: it may be forged.
func (d datagrams) Read(buffer []byte) (int, error) {
	n, err := d.File.Read(buffer)
	if err == io.EOF {
		return 0, nil
	}
	return n, err
}
