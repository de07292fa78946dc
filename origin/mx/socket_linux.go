package mx

import (
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// dial returns a socket that no other query uses, at a random port of the kernel's choice.
// It is connected, so that the kernel drops datagrams from other addresses.
//
// To open one takes four system calls, socket, connect, fcntl and epoll_ctl, and to close
// it a fifth; [net.DialUDP] needs two more: it allows broadcasts and asks the kernel for
// both addresses. So one whose query has its reply may serve another.
func (s *server) dial() (socket, error) {
	if idle := s.idle.take(); idle != nil {
		return idle, nil
	}
	return s.open()
}

func (s *server) open() (socket, error) {
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
	d, err := newDatagrams(os.NewFile(uintptr(fd), "udp"))
	if err != nil {
		return nil, err // not d, which would be a socket that is not nil
	}
	return d, nil
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
type datagrams struct {
	*os.File
	opened time.Time
	uses   int // queries that have used it, and ended
	raw    syscall.RawConn
	peek   func(fd uintptr) (done bool) // sets quiet; kept, since making it allocates
	quiet  bool
}

func newDatagrams(file *os.File) (*datagrams, error) {
	raw, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, err
	}
	d := &datagrams{File: file, opened: time.Now(), raw: raw}
	d.peek = func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), nil, syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		d.quiet = err == syscall.EAGAIN
		return true
	}
	return d, nil
}

// Read reads one datagram. An empty one is no end of file: it may be forged.
func (d *datagrams) Read(buffer []byte) (int, error) {
	n, err := d.File.Read(buffer)
	if err == io.EOF {
		return 0, nil
	}
	return n, err
}

// isQuiet reports whether neither a datagram nor an error waits in the socket.
func (d *datagrams) isQuiet() bool { return d.raw.Read(d.peek) == nil && d.quiet }

// Bounds of a socket that serves more than one query.
const (
	socketUses = 32
	socketAge  = time.Second
)

func (d *datagrams) isSpent() bool { return d.uses >= socketUses || time.Since(d.opened) > socketAge }

// idleSockets are the sockets of a server whose last query has its reply, and nothing else
// has come to them. A forger still has to guess the port and the id of a query while it waits
// (RFC 5452 section 9.2), and gains nothing by a port that it has found before:
//
//   - A socket has one query at a time, so its port goes with one id.
//   - It is closed once a datagram is no reply, also between two queries: who tries a port
//     closes it, and no forged reply waits in it for the next query.
//   - It is closed after socketUses queries or socketAge, a fifth of the time for which a
//     query without a reply may wait.
//   - Which of the idle sockets is the next one is random.
type idleSockets struct {
	mu      sync.Mutex
	most    int
	list    []*datagrams
	closing bool // closeSpent will run
}

// take returns an idle socket, or nil.
func (i *idleSockets) take() *datagrams {
	for {
		d := i.pick()
		if d == nil || !d.isSpent() && d.isQuiet() {
			return d
		}
		d.Close()
	}
}

// pick removes a random socket.
func (i *idleSockets) pick() *datagrams {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.list) == 0 {
		return nil
	}
	n, last := rand.IntN(len(i.list)), len(i.list)-1
	d := i.list[n]
	i.list[n], i.list[last] = i.list[last], nil
	i.list = i.list[:last]
	return d
}

// release takes back the socket of a query that has ended. It closes it unless another one
// may use it.
func (s *server) release(c socket, reusable bool) {
	d, ok := c.(*datagrams)
	if ok {
		d.uses++
	}
	if !ok || !reusable || d.isSpent() || !s.idle.add(d) {
		c.Close()
	}
}

// add reports whether there was room for d.
func (i *idleSockets) add(d *datagrams) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.list) >= i.most {
		return false
	}
	i.list = append(i.list, d)
	i.closeLater()
	return true
}

// closeLater has the sockets closed that will be spent. i.mu is held.
func (i *idleSockets) closeLater() {
	if !i.closing && len(i.list) > 0 {
		i.closing = true
		time.AfterFunc(socketAge, i.closeSpent)
	}
}

func (i *idleSockets) closeSpent() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.list = slices.DeleteFunc(i.list, func(d *datagrams) bool {
		if d.isSpent() {
			d.Close()
			return true
		}
		return false
	})
	i.closing = false
	i.closeLater()
}

// close closes all, and whatever is added later.
func (i *idleSockets) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, d := range i.list {
		d.Close()
	}
	i.list, i.most = nil, 0
}
