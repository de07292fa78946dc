package api

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Bounded holds no more than so many connections at a time, since each takes
// memory and an open file, also of a client that says nothing. Who comes beyond
// that is told 503 at once instead of waiting for nothing.
func Bounded(inner net.Listener, most int) net.Listener {
	return &bounded{Listener: inner, most: int64(most), leaving: make(chan struct{}, mostLeaving)}
}

type bounded struct {
	net.Listener
	most    int64
	open    atomic.Int64
	leaving chan struct{} // holds a place for each that is being told
}

// Of those turned down so many at a time get the time to read why; the others
// may find their connection reset.
const (
	mostLeaving = 256
	leavingTime = time.Second
)

func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if b.open.Add(1) <= b.most {
			return &counted{Conn: c, gone: sync.OnceFunc(func() { b.open.Add(-1) })}, nil
		}
		b.open.Add(-1)
		b.turnDown(c)
	}
}

// turnDown tells a client that there is no room, without waiting for it.
func (b *bounded) turnDown(c net.Conn) {
	c.SetDeadline(time.Now().Add(leavingTime))
	select {
	case b.leaving <- struct{}{}:
		go func() {
			defer func() { <-b.leaving }()
			defer c.Close()
			c.Write(noRoom())
			halfClose(c)
			io.Copy(io.Discard, c) // to close with octets unread would reset the connection
		}()
	default:
		c.Close()
	}
}

// noRoom is a whole answer.
func noRoom() []byte {
	return rawAnswer(unavailable("The service holds as many connections as it may; nothing was charged. Try again shortly."),
		"Retry-After: 1\r\n")
}

// counted frees its place when it is closed, however often that is.
type counted struct {
	net.Conn
	gone func()
}

func (c *counted) Close() error {
	c.gone()
	return c.Conn.Close()
}

func (c *counted) CloseWrite() error { return halfClose(c.Conn) }
