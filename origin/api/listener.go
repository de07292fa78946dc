package api

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync/atomic"
)

// Listener returns a listener for an http.Server that uses the same handler and
// [ConnContext]. It limits the number of connections (see connLimiter), replaces
// error responses of net/http by those of the contract (see protocolProblem and
// requestStart), and closes connections so that clients get their answer (see
// lingeringClose).
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

	// Guarded by limiter.mu.
	idleElement *list.Element // in connLimiter.idle; nil while a request is in a handler
	closed      bool          // no longer counted
	inHeader    bool          // bytes read belong to a header
	headerBytes int64         // read so far

	linger  atomic.Bool // Close uses lingeringClose
	handler http.Handler
	start   requestStart
}

// Read reads from the connection, counts header bytes, and stores the start of a
// request with a malformed path.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.start.add(p[:n])
	c.limiter.countHeader(c, n)
	return n, err
}

// Write writes p, or the contract's answer if p is an error response of net/http.
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

// CloseWrite closes the write side of the connection; net/http calls it.
func (c *conn) CloseWrite() error { return halfClose(c.Conn) }

// Close closes the connection. A lingering close runs in the background, since
// net/http closes one connection after the other when the service stops; the
// connection counts as open until then.
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

// lingerOnClose makes Close use lingeringClose.
func (c *conn) lingerOnClose() {
	if c != nil {
		c.linger.Store(true)
	}
}

type connKey struct{}

// ConnContext returns a context with c, for the handlers of its requests.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns the connection of a request, nil if a test made the request.
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}
