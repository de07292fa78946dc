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
	return &listener{inner, newConnLimiter(most, metrics), handler}
}

type listener struct {
	net.Listener
	limiter *connLimiter
	handler http.Handler
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := l.limiter.admit(c); admitted != nil {
			admitted.handler = l.handler
			admitted.start.begin()
			return admitted, nil
		}
		l.limiter.refuse(c)
	}
}

// A conn is one connection of a client.
type conn struct {
	net.Conn
	limiter *connLimiter

	// Guarded by bounds.mu.
	idleElement *list.Element // in bounds.idle; nil while a request is in a handler
	closed      bool          // closed, and not counted any more
	inHeader    bool          // what comes is a header
	headerBytes int64         // its bytes so far

	linger  atomic.Bool // it is closed gently
	handler http.Handler
	start   requestStart
}

// Read reads, and keeps the begin of a request with a broken path.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.start.add(p[:n])
	c.limiter.countHeader(c, n)
	return n, err
}

// Write writes p, or the contract's answer if p is a refusal of net/http.
func (c *conn) Write(p []byte) (int, error) {
	refused := protocolProblem(p)
	if refused == nil {
		return c.Conn.Write(p)
	}
	c.linger.Store(true)
	var answer []byte
	if refused.status == http.StatusBadRequest {
		answer = c.answerMalformedPath()
	}
	if answer == nil {
		answer = rawResponse(refused, "")
		c.limiter.metrics.countProtocolError(refused.status)
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
	if c.linger.Swap(false) {
		go func() {
			defer c.limiter.remove(c)
			lingeringClose(c.Conn, lingerTime)
		}()
		return nil
	}
	defer c.limiter.remove(c)
	return c.Conn.Close()
}

// lingerOnClose makes the connection close gently.
func (c *conn) lingerOnClose() {
	if c != nil {
		c.linger.Store(true)
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
