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
type bounds struct {
	most    int
	metrics *Metrics
	refused chan struct{} // has an element for each 503 being sent

	mu      sync.Mutex
	open    int
	idle    list.List // of *conn, longest first
	headers int64     // bytes of headers that are not whole yet
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

func newBounds(most int, metrics *Metrics) *bounds {
	return &bounds{most: most, metrics: metrics, refused: make(chan struct{}, maxRefused)}
}

// So many refused clients at a time get so long to read their 503; the
// connections of others are closed without one.
const (
	maxRefused  = 256
	refusedTime = time.Second
)

// admit returns nil if there is no room.
func (b *bounds) admit(c net.Conn) *conn {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open >= b.most && !b.shed() {
		return nil
	}
	b.open++
	b.metrics.connections.Inc()
	if tcp, ok := c.(interface{ SetWriteBuffer(int) error }); ok {
		_ = tcp.SetWriteBuffer(writeBuffer) // a bound less, if the system refuses
	}
	admitted := &conn{Conn: c, bounds: b, counts: true}
	admitted.place = b.idle.PushBack(admitted)
	return admitted
}

// shed closes the connection that has been idle longest. The caller holds b.mu.
func (b *bounds) shed() bool {
	longest := b.idle.Front()
	if longest == nil {
		return false
	}
	b.end(longest.Value.(*conn))
	return true
}

func (b *bounds) end(c *conn) {
	b.drop(c)
	b.metrics.shed.Inc()
	c.Conn.Close()
}

// arrived counts bytes of a header.
func (b *bounds) arrived(c *conn, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.gone || !c.counts {
		return
	}
	c.header += int64(bytes)
	if b.headers += int64(bytes); b.headers > maxHeaders {
		b.shedHeaders()
	}
}

func (b *bounds) shedHeaders() {
	for place := b.idle.Front(); place != nil && b.headers > enoughHeaders; {
		c := place.Value.(*conn)
		if place = place.Next(); c.header > usualHeader {
			b.end(c)
		}
	}
}

// whole ends the counting of c's header.
func (b *bounds) whole(c *conn) {
	if c.counts {
		c.counts = false
		b.headers -= c.header
	}
}

// forget stops counting c.
func (b *bounds) forget(c *conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(c)
}

func (b *bounds) drop(c *conn) {
	if !c.gone {
		c.gone = true
		b.open--
		b.metrics.connections.Dec()
		b.unlist(c)
		b.whole(c)
	}
}

func (b *bounds) unlist(c *conn) {
	if c.place != nil {
		b.idle.Remove(c.place)
		c.place = nil
	}
}

// occupy notes that a request of the connection is in a handler; false if the
// connection was closed for another, so that nobody would get the answer.
func (c *conn) occupy() bool {
	if c == nil {
		return true
	}
	c.bounds.mu.Lock()
	defer c.bounds.mu.Unlock()
	c.bounds.unlist(c)
	c.bounds.whole(c)
	return !c.gone
}

// release notes that the handler has ended: what comes is the next request, even
// if the rest of a body came before it.
func (c *conn) release() {
	if c == nil {
		return
	}
	c.vacate()
	c.bounds.mu.Lock()
	defer c.bounds.mu.Unlock()
	if !c.gone && !c.counts {
		c.counts, c.header = true, 0
	}
}

// nextRequest notes that what comes from now on is the next request.
func (c *conn) nextRequest() {
	if c == nil {
		return
	}
	c.opening.begin()
	c.bounds.mu.Lock()
	defer c.bounds.mu.Unlock()
	c.counts, c.header = !c.gone, 0
}

// headerSize is how many bytes the header of the request in the handler has, or
// a little more.
func (c *conn) headerSize() int {
	if c == nil {
		return 0
	}
	c.bounds.mu.Lock()
	defer c.bounds.mu.Unlock()
	return int(c.header)
}

// vacate notes that none is, from now on.
func (c *conn) vacate() {
	if c == nil {
		return
	}
	c.bounds.mu.Lock()
	defer c.bounds.mu.Unlock()
	if !c.gone && c.place == nil {
		c.place = c.bounds.idle.PushBack(c)
	}
}

// refuse sends 503 without waiting for the client.
func (b *bounds) refuse(c net.Conn) {
	b.metrics.refused.Inc()
	select {
	case b.refused <- struct{}{}:
		go func() {
			defer func() { <-b.refused }()
			c.SetWriteDeadline(time.Now().Add(refusedTime))
			c.Write(noRoom())
			closeGently(c, refusedTime)
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
