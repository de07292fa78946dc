package api

import (
	"bufio"
	"bytes"
	"container/list"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Listen returns a listener that server has to serve, and sets the server's hooks for
// it. The listener limits the number of connections (see connLimiter), replaces
// the responses that net/http sends by itself (see protocolProblem), and closes
// connections so that clients get their response (see lingeringClose).
func Listen(server *http.Server, inner net.Listener, most int, metrics *Metrics) net.Listener {
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, c)
	}
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateIdle { // the response is sent
			c.(*conn).responding.Store(false)
		}
	}
	return &listener{inner, newConnLimiter(most, metrics)}
}

type listener struct {
	net.Listener
	limiter *connLimiter
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := l.limiter.admit(c); admitted != nil {
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

	linger     atomic.Bool // Close uses lingeringClose
	responding atomic.Bool // a handler has begun whose response is not known to be sent
}

// Read reads from the connection and counts header bytes.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.limiter.countHeader(c, n)
	return n, err
}

// Write writes p. If no handler is responding, p is a whole response that net/http
// sends by itself, and the contract's is written in its place.
func (c *conn) Write(p []byte) (int, error) {
	if c.responding.Load() {
		return c.Conn.Write(p)
	}
	refused := protocolProblem(p)
	c.linger.Store(true)
	c.limiter.metrics.countProtocolError(refused.status)
	if _, err := c.Conn.Write(rawResponse(refused, "")); err != nil {
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

// connOf returns the connection of a request, nil if a test made the request.
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// Closing a connection with unread bytes resets it, and the client may lose the
// response (RFC 9112 section 9.6). So a connection whose client may still be
// sending is half-closed first and then read from for a while.
const (
	lingerTime = 500 * time.Millisecond
	// lingerSize is in bytes: a body over the limit is read whole if it is not twice
	// as long. A proxy that is still sending when the connection is reset may report
	// that and not the response, so deploy/Caddyfile refuses longer ones itself.
	lingerSize = 2 * maxBody
)

// lingeringClose half-closes c and reads from it until the client closes it, time
// is up or lingerSize bytes have arrived. Then it closes c.
func lingeringClose(c net.Conn, within time.Duration) error {
	_ = halfClose(c)
	_ = c.SetReadDeadline(time.Now().Add(within))
	_, _ = io.CopyN(io.Discard, c, lingerSize)
	return c.Close()
}

func halfClose(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// net/http refuses requests that are not well-formed HTTP in plain text, before any
// handler runs. conn replaces these responses by those of the contract: JSON in
// shape A with a request id. They are recognized by the state of the connection
// alone, since a handler's response may contain any bytes.

// protocolProblem returns the problem that replaces a response of net/http. Only its
// status line says what is wrong.
func protocolProblem(written []byte) *problem {
	status, reason := http.StatusBadRequest, ""
	if r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(written)), nil); err == nil {
		status = r.StatusCode
		_, reason, _ = strings.Cut(r.Status, ": ")
	}
	switch {
	case status != http.StatusBadRequest:
		p := badHTTP.with(protocolSentences[status])
		p.status = status
		return p
	case reason != "":
		return invalidRequest.with("The request is not well-formed HTTP (RFC 9112): " + reason + ".")
	}
	return invalidRequest.with("The request line, a header or the length of the body is not well-formed HTTP (RFC 9112), or the path has a percent sign that is not followed by two hexadecimal digits (write %25).")
}

var protocolSentences = map[int]string{
	http.StatusExpectationFailed:           "The Expect header asks for something else than 100-continue, the only expectation there is (RFC 9110 section 10.1.1); leave it out.",
	http.StatusRequestHeaderFieldsTooLarge: "The request line and headers are over 64 KiB; send fewer or shorter headers.",
	http.StatusNotImplemented:              "The Transfer-Encoding is not known; send the body with Content-Length or in chunks (RFC 9112 section 6.1).",
	http.StatusHTTPVersionNotSupported:     "The request's version of HTTP is not supported; use HTTP/1.1.",
}

// rawResponse returns a raw response in shape A with Connection: close, for
// problems that reach no handler.
func rawResponse(p *problem, headers string) []byte {
	body := p.body(flat)
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n%s: %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		p.status, http.StatusText(p.status), contentJSON, headerRequestID, requestID(""), headers, len(body), body)
}
