package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/addrspec/addrspec/origin/origintest"
)

// A client sends requests on one connection at a time. Unlike net/http's client
// it never sends a request twice, so that charges can be counted.
type client struct {
	address   string
	key       string
	keepAlive bool
	patience  time.Duration // hang up after this time without a response; 0: never
	conn      *origintest.Conn
}

// exchangeTimeout is the longest time of one exchange; a later response is a
// failure.
const exchangeTimeout = 20 * time.Second

// send sends a request and reads its response.
func (c *client) send(r request) (o outcome) {
	begun := time.Now()
	defer func() { o.begun, o.took = begun, time.Since(begun) }()
	if err := c.connect(); err != nil {
		return outcome{kind: refused}
	}
	o, err := c.exchange(r)
	if err != nil {
		c.close()
		return outcome{kind: c.kindOf(err), err: err}
	}
	if !c.keepAlive || o.header.Get("Connection") == "close" {
		c.close()
	}
	return o
}

// kindOf distinguishes a client that hung up from a connection that was cut.
func (c *client) kindOf(err error) outcomeKind {
	if c.patience > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		return hungUp
	}
	return cut
}

// connect reuses the connection unless the server has closed it. A server may close
// one that is idle, as at the end of a stop, and on a busy machine a client may send
// nothing for longer than a stop takes (RFC 9112 section 9.5).
func (c *client) connect() (err error) {
	if c.conn != nil && closedByServer(c.conn) {
		c.close()
	}
	if c.conn != nil {
		return nil
	}
	c.conn, err = origintest.Connect(c.address, exchangeTimeout)
	return err
}

func (c *client) exchange(r request) (o outcome, err error) {
	c.conn.SetDeadline(time.Now().Add(exchangeTimeout))
	if _, err := io.WriteString(c.conn, r.text(c.key, c.keepAlive)); err != nil {
		return o, err
	}
	if c.patience > 0 {
		c.conn.SetReadDeadline(time.Now().Add(c.patience))
	}
	response, body, err := c.conn.ReadResponse(http.MethodGet)
	if err != nil {
		return o, err
	}
	o.status, o.header, o.body = response.StatusCode, response.Header, body
	if response.Close { // http.ReadResponse removes the header
		o.header.Set("Connection", "close")
	}
	return o, nil
}

func (c *client) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}
