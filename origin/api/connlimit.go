package api

import (
	"container/list"
	"net"
	"sync"
	"time"
)

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
