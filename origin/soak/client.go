package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/addrspec/addrspec/origin/origintest"
)

// A client speaks HTTP over one connection at a time. Unlike net/http's it
// never sends a request twice, so that charges can be counted.
type client struct {
	address   string
	key       string
	keepAlive bool
	patience  time.Duration // hang up after this time without an answer; 0: never
	conn      *origintest.Conn
}

// exchangeLimit bounds one exchange; no answer within it is a failure.
const exchangeLimit = 20 * time.Second

// send sends a request and reads its answer.
func (c *client) send(r request) (o outcome) {
	begun := time.Now()
	defer func() { o.begun, o.took = begun, time.Since(begun) }()
	if err := c.connect(); err != nil {
		return outcome{fate: refused}
	}
	o, err := c.exchange(r)
	if err != nil {
		c.close()
		return outcome{fate: c.fateOf(err), err: err}
	}
	if !c.keepAlive || o.header.Get("Connection") == "close" {
		c.close()
	}
	return o
}

// fateOf distinguishes a client that hung up from a connection that broke.
func (c *client) fateOf(err error) fate {
	if c.patience > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		return left
	}
	return cut
}

func (c *client) connect() (err error) {
	if c.conn != nil {
		return nil
	}
	c.conn, err = origintest.Connect(c.address, exchangeLimit)
	return err
}

func (c *client) exchange(r request) (o outcome, err error) {
	c.conn.SetDeadline(time.Now().Add(exchangeLimit))
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
	if response.Close { // ReadResponse takes the header away
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
