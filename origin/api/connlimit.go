package api

import (
	"container/list"
	"net"
	"sync"
	"time"
)

// bounds admit at most so many connections at a time, since each takes memory
// and an open file even if its client sends nothing. Beyond that a new
// connection replaces the one that has waited longest: for its client to send
// the whole header of a first or a further request, or to read an answer that no
// account has asked for. A connection with a request in a handler is never
// closed for another; if all are such, a new one gets 503 at once.
//
// A client may be about to send a request on the connection that is closed. With
// kept-alive connections this can always happen, and clients then send the
// request again on a new one (RFC 9112 section 9.3.1).
type connLimiter struct {
	limit    int
	metrics  *Metrics
	refusing chan struct{} // has an element for each 503 being sent

	mu          sync.Mutex
	open        int
	idle        list.List // of *conn, longest first
	headerBytes int64     // bytes of headers that are not whole yet
}

// Clients without a key can send the begin of a header on every connection, and
// each takes its memory until the header's time is up. Together these may take
// maxHeaders; then the longest idle connections that sent more than a usual
// header are closed, down to enoughHeaders.
const (
	maxHeaders    = 32 << 20
	enoughHeaders = maxHeaders * 3 / 4
	usualHeader   = 4 << 10
)

// writeBuffer is how many bytes of answers that a client does not read the
// system keeps for a connection: by itself it would keep some megabytes.
const writeBuffer = 64 << 10

func newConnLimiter(most int, metrics *Metrics) *connLimiter {
	return &connLimiter{limit: most, metrics: metrics, refusing: make(chan struct{}, maxRefused)}
}

// So many refused clients at a time get so long to read their 503; the
// connections of others are closed without one.
const (
	maxRefused  = 256
	refusedTime = time.Second
)

// admit returns nil if there is no room.
func (b *connLimiter) admit(c net.Conn) *conn {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open >= b.limit && !b.shed() {
		return nil
	}
	b.open++
	b.metrics.connections.Inc()
	if tcp, ok := c.(interface{ SetWriteBuffer(int) error }); ok {
		_ = tcp.SetWriteBuffer(writeBuffer) // a bound less, if the system refuses
	}
	admitted := &conn{Conn: c, limiter: b, inHeader: true}
	admitted.idleElement = b.idle.PushBack(admitted)
	return admitted
}

// shed closes the connection that has been idle longest. The caller holds b.mu.
func (b *connLimiter) shed() bool {
	longest := b.idle.Front()
	if longest == nil {
		return false
	}
	b.closeIdle(longest.Value.(*conn))
	return true
}

func (b *connLimiter) closeIdle(c *conn) {
	b.removeLocked(c)
	b.metrics.shed.Inc()
	c.Conn.Close()
}

// arrived counts bytes of a header.
func (b *connLimiter) countHeader(c *conn, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.closed || !c.inHeader {
		return
	}
	c.headerBytes += int64(bytes)
	if b.headerBytes += int64(bytes); b.headerBytes > maxHeaders {
		b.shedLongHeaders()
	}
}

func (b *connLimiter) shedLongHeaders() {
	for place := b.idle.Front(); place != nil && b.headerBytes > enoughHeaders; {
		c := place.Value.(*conn)
		if place = place.Next(); c.headerBytes > usualHeader {
			b.closeIdle(c)
		}
	}
}

// whole ends the counting of c's header.
func (b *connLimiter) endHeader(c *conn) {
	if c.inHeader {
		c.inHeader = false
		b.headerBytes -= c.headerBytes
	}
}

// forget stops counting c.
func (b *connLimiter) remove(c *conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.removeLocked(c)
}

func (b *connLimiter) removeLocked(c *conn) {
	if !c.closed {
		c.closed = true
		b.open--
		b.metrics.connections.Dec()
		b.unlistIdle(c)
		b.endHeader(c)
	}
}

func (b *connLimiter) unlistIdle(c *conn) {
	if c.idleElement != nil {
		b.idle.Remove(c.idleElement)
		c.idleElement = nil
	}
}

// occupy notes that a request of the connection is in a handler; false if the
// connection was closed for another, so that nobody would get the answer.
func (c *conn) beginHandler() bool {
	if c == nil {
		return true
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.limiter.unlistIdle(c)
	c.limiter.endHeader(c)
	return !c.closed
}

// release notes that the handler has ended: what comes is the next request, even
// if the rest of a body came before it.
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

// nextRequest notes that what comes from now on is the next request.
func (c *conn) expectRequest() {
	if c == nil {
		return
	}
	c.start.begin()
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.inHeader, c.headerBytes = !c.closed, 0
}

// headerSize is how many bytes the header of the request in the handler has, or
// a little more.
func (c *conn) headerSize() int {
	if c == nil {
		return 0
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	return int(c.headerBytes)
}

// vacate notes that none is, from now on.
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

// refuse sends 503 without waiting for the client.
func (b *connLimiter) refuse(c net.Conn) {
	b.metrics.refused.Inc()
	select {
	case b.refusing <- struct{}{}:
		go func() {
			defer func() { <-b.refusing }()
			c.SetWriteDeadline(time.Now().Add(refusedTime))
			c.Write(tooManyConnections())
			lingeringClose(c, refusedTime)
		}()
	default:
		c.Close()
	}
}

// noRoom is the whole 503.
func tooManyConnections() []byte {
	return rawResponse(unavailable("The service has as many connections as it may; nothing was charged. Try again shortly."),
		"Retry-After: 1\r\n")
}
