package api

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Bounded accepts at most so many connections at a time, since each takes
// memory and an open file even if its client sends nothing. Further clients get
// 503 at once.
func Bounded(inner net.Listener, most int) net.Listener {
	return &bounded{Listener: inner, most: int64(most), refused: make(chan struct{}, maxRefused)}
}

type bounded struct {
	net.Listener
	most    int64
	open    atomic.Int64
	refused chan struct{} // has an element for each 503 being sent
}

// So many refused clients at a time get so long to read their 503; the
// connections of others are closed without one.
const (
	maxRefused  = 256
	refusedTime = time.Second
)

func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if b.open.Add(1) <= b.most {
			return &counted{Conn: c, closed: sync.OnceFunc(func() { b.open.Add(-1) })}, nil
		}
		b.open.Add(-1)
		b.refuse(c)
	}
}

// refuse sends 503 without waiting for the client.
func (b *bounded) refuse(c net.Conn) {
	c.SetDeadline(time.Now().Add(refusedTime))
	select {
	case b.refused <- struct{}{}:
		go func() {
			defer func() { <-b.refused }()
			defer c.Close()
			c.Write(noRoom())
			halfClose(c)
			io.Copy(io.Discard, c) // closing with unread bytes would reset the connection
		}()
	default:
		c.Close()
	}
}

// noRoom is the whole 503.
func noRoom() []byte {
	return rawAnswer(unavailable("The service has as many connections as it may; nothing was charged. Try again shortly."),
		"Retry-After: 1\r\n")
}

// counted is counted until it is closed for the first time.
type counted struct {
	net.Conn
	closed func()
}

func (c *counted) Close() error {
	c.closed()
	return c.Conn.Close()
}

func (c *counted) CloseWrite() error { return halfClose(c.Conn) }
