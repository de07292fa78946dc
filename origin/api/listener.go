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
	"sync"
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

// connLimiter limits the number of open connections, since each takes memory and
// a file descriptor even if its client sends nothing. At the limit, a new
// connection replaces the one that has been idle longest. A connection is idle
// while the header of its next request is incomplete, or while its client reads
// a response to a request without an account. A connection whose request is in a
// handler is never closed for another; if no connection is idle, a new one gets
// 503 at once.
//
// The client of a closed connection may be about to send a request. This can
// happen on any persistent connection, and clients then repeat the request on a
// new one (RFC 9112 section 9.3.1).
type connLimiter struct {
	limit    int
	metrics  *Metrics
	refusing chan struct{} // one element for each 503 being sent

	mu          sync.Mutex
	open        int
	idle        list.List // of *conn, longest first
	headerBytes int64     // of incomplete headers
}

// Clients without a key can send an incomplete header on every connection, which
// takes memory until the header's deadline. All incomplete headers together may
// take maxHeaders bytes. Beyond that, the connections that have been idle longest
// and sent more than usualHeader are closed, down to enoughHeaders.
const (
	maxHeaders    = 32 << 20
	enoughHeaders = maxHeaders * 3 / 4
	usualHeader   = 4 << 10
)

// writeBuffer is the send buffer of a connection in bytes. The system's default
// would buffer some megabytes for a client that does not read.
const writeBuffer = 64 << 10

func newConnLimiter(most int, metrics *Metrics) *connLimiter {
	return &connLimiter{limit: most, metrics: metrics, refusing: make(chan struct{}, RefusedAtATime(most))}
}

const (
	maxRefused  = 256
	refusedTime = time.Second // for the client to read its 503
)

// RefusedAtATime returns how many connections beyond the most are open at a time, to
// get their 503; further ones are closed without it.
func RefusedAtATime(most int) int { return min(maxRefused, 16+most/8) }

// admit counts a new connection, and returns nil if it has to be refused.
func (l *connLimiter) admit(c net.Conn) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.limit && !l.shed() {
		return nil
	}
	l.open++
	l.metrics.connections.Inc()
	if tcp, ok := c.(interface{ SetWriteBuffer(int) error }); ok {
		_ = tcp.SetWriteBuffer(writeBuffer) // best effort
	}
	admitted := &conn{Conn: c, limiter: l, inHeader: true}
	admitted.idleElement = l.idle.PushBack(admitted)
	return admitted
}

// shed closes the connection that has been idle longest. It returns false if none
// is idle. The caller must hold mu.
func (l *connLimiter) shed() bool {
	longest := l.idle.Front()
	if longest == nil {
		return false
	}
	l.closeIdle(longest.Value.(*conn))
	return true
}

func (l *connLimiter) closeIdle(c *conn) {
	l.removeLocked(c)
	l.metrics.shed.Inc()
	c.Conn.Close()
}

// countHeader counts bytes read, if they belong to a header.
func (l *connLimiter) countHeader(c *conn, bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed || !c.inHeader {
		return
	}
	c.headerBytes += int64(bytes)
	if l.headerBytes += int64(bytes); l.headerBytes > maxHeaders {
		l.shedLongHeaders()
	}
}

func (l *connLimiter) shedLongHeaders() {
	for element := l.idle.Front(); element != nil && l.headerBytes > enoughHeaders; {
		c := element.Value.(*conn)
		if element = element.Next(); c.headerBytes > usualHeader {
			l.closeIdle(c)
		}
	}
}

// endHeader ends the counting of c's header.
func (l *connLimiter) endHeader(c *conn) {
	if c.inHeader {
		c.inHeader = false
		l.headerBytes -= c.headerBytes
	}
}

// remove stops counting c.
func (l *connLimiter) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removeLocked(c)
}

func (l *connLimiter) removeLocked(c *conn) {
	if !c.closed {
		c.closed = true
		l.open--
		l.metrics.connections.Dec()
		l.unlistIdle(c)
		l.endHeader(c)
	}
}

func (l *connLimiter) unlistIdle(c *conn) {
	if c.idleElement != nil {
		l.idle.Remove(c.idleElement)
		c.idleElement = nil
	}
}

// beginHandler marks the connection as in use by a handler, which writes from now on. It returns false if
// the connection was closed for another, so that no response can be sent.
func (c *conn) beginHandler() bool {
	if c == nil {
		return true
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.limiter.unlistIdle(c)
	c.limiter.endHeader(c)
	c.responding.Store(true)
	return !c.closed
}

// endHandler marks the connection as idle. Bytes read from now on count as the
// next header, even if the rest of a body comes first.
func (c *conn) endHandler() {
	if c == nil {
		return
	}
	c.markIdle()
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	if !c.closed && !c.inHeader {
		c.inHeader, c.headerBytes = true, 0
	}
}

// expectRequest marks the bytes read from now on as the next request.
func (c *conn) expectRequest() {
	if c == nil {
		return
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.inHeader, c.headerBytes = !c.closed, 0
}

// headerSize returns the size in bytes of the header of the request in the
// handler, or slightly more.
func (c *conn) headerSize() int {
	if c == nil {
		return 0
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	return int(c.headerBytes)
}

// markIdle marks the connection as idle, so that it may be closed for another.
func (c *conn) markIdle() {
	if c == nil {
		return
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	if !c.closed && c.idleElement == nil {
		c.idleElement = c.limiter.idle.PushBack(c)
	}
}

// refuse sends 503 in the background, and closes the connection.
func (l *connLimiter) refuse(c net.Conn) {
	l.metrics.refused.Inc()
	select {
	case l.refusing <- struct{}{}:
		go func() {
			defer func() { <-l.refusing }()
			c.SetWriteDeadline(time.Now().Add(refusedTime))
			c.Write(tooManyConnections())
			lingeringClose(c, refusedTime)
		}()
	default:
		c.Close()
	}
}

// tooManyConnections returns the raw 503 response.
func tooManyConnections() []byte {
	return rawResponse(unavailable("The service has too many open connections; nothing was charged. Try again shortly."),
		"Retry-After: 1\r\n")
}
