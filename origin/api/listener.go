package api

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync/atomic"
)

// Listener makes the connections of an http.Server, which has the same handler
// and [ConnContext]: at most so many (see bounds), with answers of the contract
// where net/http refuses a request itself (see refusal and opening), and closed
// so that the client gets its answer (see closeGently).
func Listener(inner net.Listener, most int, metrics *Metrics, handler http.Handler) net.Listener {
	return &listener{inner, newBounds(most, metrics), handler}
}

type listener struct {
	net.Listener
	bounds  *bounds
	handler http.Handler
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := l.bounds.admit(c); admitted != nil {
			admitted.handler = l.handler
			admitted.opening.begin()
			return admitted, nil
		}
		l.bounds.refuse(c)
	}
}

// A conn is one connection of a client.
type conn struct {
	net.Conn
	bounds *bounds

	// Guarded by bounds.mu.
	place  *list.Element // in bounds.idle; nil while a request is in a handler
	gone   bool          // closed, and not counted any more
	counts bool          // what comes is a header
	header int64         // its bytes so far

	lingers atomic.Bool // it is closed gently
	handler http.Handler
	opening opening
}

// Read reads, and keeps the begin of a request with a broken path.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.opening.add(p[:n])
	c.bounds.arrived(c, n)
	return n, err
}

// Write writes p, or the contract's answer if p is a refusal of net/http.
func (c *conn) Write(p []byte) (int, error) {
	refused := refusal(p)
	if refused == nil {
		return c.Conn.Write(p)
	}
	c.lingers.Store(true)
	var answer []byte
	if refused.status == http.StatusBadRequest {
		answer = c.answerBroken()
	}
	if answer == nil {
		answer = rawAnswer(refused, "")
		c.bounds.metrics.protocol(refused.status)
	}
	if _, err := c.Conn.Write(answer); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite lets net/http close its half of the connection first.
func (c *conn) CloseWrite() error { return halfClose(c.Conn) }

// Close closes the connection, or begins to; until that is done it is counted.
// It does not block: at the end of the service net/http closes one connection
// after the other.
func (c *conn) Close() error {
	if c.lingers.Swap(false) {
		go func() {
			defer c.bounds.forget(c)
			closeGently(c.Conn, lingerTime)
		}()
		return nil
	}
	defer c.bounds.forget(c)
	return c.Conn.Close()
}

// lingerOnClose makes the connection close gently.
func (c *conn) lingerOnClose() {
	if c != nil {
		c.lingers.Store(true)
	}
}

type connKey struct{}

// ConnContext gives handlers the connection of their request.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connOf is the connection of a request, or nil if a test made the request.
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}
