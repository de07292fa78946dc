// Package conn bounds what the clients of an HTTP server hold by their connections alone,
// before a handler knows who they are: the number of connections, and the lines and
// commas of a header. All other bounds are net/http's, so the server must have MaxHeaderBytes and its
// four timeouts. It also replaces the responses that net/http sends by itself.
package conn

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Config configures a listener.
type Config struct {
	Limit int // the most open connections
	// Refusal returns the whole raw response, with "Connection: close", for a status with
	// which a client is refused before any handler runs: by net/http, or with 503 at Limit.
	Refusal func(status int) []byte
	Metrics *Metrics
}

// Metrics are the metrics of connections. Listeners may share them.
type Metrics struct {
	open          prometheus.Gauge
	shed, refused prometheus.Counter
}

// NewMetrics registers the metrics with registry.
func NewMetrics(registry *prometheus.Registry) *Metrics {
	m := &Metrics{
		prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "addrspec_connections", Help: "Open client connections."}),
		prometheus.NewCounter(prometheus.CounterOpts{
			Name: "addrspec_connections_shed_total", Help: "Idle connections closed to make room for a new one."}),
		prometheus.NewCounter(prometheus.CounterOpts{
			Name: "addrspec_connections_refused_total", Help: "Connections refused because none was idle."}),
	}
	registry.MustRegister(m.open, m.shed, m.refused)
	return m
}

// Listen returns the listener that server must serve, and sets the server's hooks for it.
// The connections of inner must be TCP connections.
//
// At the limit, a new connection replaces the one that has been in no handler for the
// longest: it sends nothing, sends a header slowly, or does not read its response. A
// connection in a handler is never closed for another. If all are in handlers, a new one
// gets 503. The client of a replaced connection may be about to send a request. Clients
// must expect that on a persistent connection (RFC 9112 section 9.3.1).
func Listen(server *http.Server, inner net.Listener, config Config) net.Listener {
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, key{}, c)
	}
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateIdle { // net/http has sent the response and read the body to its end
			c := c.(*Conn)
			c.header = header{}
			c.handled.Store(false)
		}
	}
	return &listener{Listener: inner, Config: config}
}

type listener struct {
	net.Listener
	Config

	mu   sync.Mutex
	open int
	idle list.List // of *Conn: those in no handler, the longest first
}

const (
	// The system's default buffers some megabytes for a client that does not read.
	writeBuffer = 64 << 10
	// A new connection's buffer has room for a 503, so this time should never pass.
	refusalTime = 50 * time.Millisecond
)

func (l *listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &Conn{TCPConn: inner.(*net.TCPConn), listener: l}
		_ = c.SetWriteBuffer(writeBuffer)
		l.mu.Lock()
		if longest := l.idle.Front(); l.open >= l.Limit && longest != nil {
			replaced := longest.Value.(*Conn)
			replaced.TCPConn.Close()
			l.remove(replaced)
			l.Metrics.shed.Inc()
		}
		admitted := l.open < l.Limit
		if admitted {
			l.open++
			l.Metrics.open.Inc()
			c.element = l.idle.PushBack(c)
		}
		l.mu.Unlock()
		if admitted {
			return c, nil
		}
		l.Metrics.refused.Inc()
		_ = c.SetWriteDeadline(time.Now().Add(refusalTime))
		_, _ = c.TCPConn.Write(l.Refusal(http.StatusServiceUnavailable))
		c.TCPConn.Close()
	}
}

// remove stops counting c. The caller must hold mu.
func (l *listener) remove(c *Conn) {
	if !c.closed {
		c.closed = true
		l.open--
		l.Metrics.open.Dec()
		l.idle.Remove(c.element)
	}
}

// A Conn is the connection of a request. Its methods for handlers work on nil too, which
// is the connection of a request that a test or another handler made.
type Conn struct {
	*net.TCPConn
	listener *listener
	header   header      // that is being read
	handled  atomic.Bool // from Begin until net/http is done with the request

	element *list.Element // guarded by listener.mu; in idle, or removed from it
	closed  bool          // guarded by listener.mu
}

type key struct{}

// Of returns the connection of a request's context.
func Of(ctx context.Context) *Conn {
	c, _ := ctx.Value(key{}).(*Conn)
	return c
}

// Without returns a context that has no connection, for a request that a handler makes.
func Without(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, (*Conn)(nil))
}

// Begin must be called when a handler begins. It returns false if the connection was
// replaced, so that no response can be sent.
func (c *Conn) Begin() bool {
	if c == nil {
		return true
	}
	c.handled.Store(true)
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.idle.Remove(c.element)
	return !c.closed
}

// Leave lets the connection be replaced. It must be called when the handler ends, and
// should be called before a response without an account is sent, because a client that
// reads slowly must not keep the connection.
func (c *Conn) Leave() {
	if c == nil {
		return
	}
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	if !c.closed {
		c.listener.idle.Remove(c.element)
		c.element = c.listener.idle.PushBack(c)
	}
}

// A read into net/http's buffer of readBuffer bytes may take the beginning of the next,
// pipelined request with it. The lines there are not counted, because the count begins
// when net/http is done with the request. So at most mostRead bytes of a header go
// uncounted. A longer read is of a body and does not use that buffer.
const (
	readBuffer = 4 << 10
	mostRead   = 1 << 10
)

// Read reads from the connection. A header that is too long does not end: Read returns
// x without waiting for the client until net/http has MaxHeaderBytes, refuses the request
// with 431 and closes the connection.
func (c *Conn) Read(p []byte) (n int, err error) {
	if len(p) <= readBuffer {
		p = p[:min(len(p), mostRead)]
	}
	if c.handled.Load() {
		return c.TCPConn.Read(p)
	}
	n = len(p)
	if !c.header.tooLong() {
		n, err = c.TCPConn.Read(p)
	}
	c.header.pass(p[:n])
	return n, err
}

// Write writes p. While no handler runs, p is a whole response of net/http itself, and the
// refusal with its status is written in its place.
func (c *Conn) Write(p []byte) (int, error) {
	if c.handled.Load() {
		return c.TCPConn.Write(p)
	}
	status, err := strconv.Atoi(string(p[9:12])) // after "HTTP/1.1 "
	if err == nil {
		_, err = c.TCPConn.Write(c.listener.Refusal(status))
	}
	return len(p), err
}

// Close closes the connection, which then no longer counts.
func (c *Conn) Close() error {
	err := c.TCPConn.Close()
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.remove(c)
	return err
}

// The limit of bytes alone would not bound the memory, because a field takes 25 to 50 times
// its bytes once net/http has parsed it, and a name in the field Trailer 30 times.
const (
	mostLines  = 100 // with the request line and without the empty line
	mostCommas = 500
)

// A header counts the lines of a request's header, and its commas.
type header struct {
	lines  int // that are not empty
	commas int
	ended  bool // by an empty line
	begun  bool // the present line has a byte
	onlyCR bool // the present line has CR and nothing else, so it is empty if LF follows
}

func (h *header) tooLong() bool { return h.lines > mostLines || h.commas > mostCommas }

// pass counts what is in p, which continues the header, and writes x over all that follows
// once the header is too long. Empty lines before the first line do not count, because
// net/http skips or refuses them. CR is optional before LF, as in net/http.
func (h *header) pass(p []byte) {
	for i, b := range p {
		switch {
		case h.ended:
			return
		case h.tooLong():
			p[i] = 'x'
		case b != '\n':
			h.onlyCR = b == '\r' && !h.begun
			h.begun = true
			if b == ',' {
				h.commas++
			}
		case h.begun && !h.onlyCR:
			h.lines++
			h.begun = false
		default:
			h.ended = h.lines > 0
			h.begun = false
		}
	}
}
