package main

import (
	"encoding/json"
	"errors"
	"fmt"
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

// An outcome is the result of sending a request.
type outcome struct {
	fate   fate
	begun  time.Time // before the connection was made
	status int
	header http.Header
	body   []byte
	took   time.Duration
	err    error // of a cut
}

type fate int

const (
	answered fate = iota
	refused       // no connection: the server never saw the request
	cut           // sent, and the answer is missing or incomplete: it may be charged
	left          // the client hung up before the answer: it may be charged
)

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

// points is the cost that the answer reports. The error says where the answer
// differs from the contract.
func (o *outcome) points(r request) (points int64, err error) {
	if o.header.Get("Content-Type") != "application/json" || o.header.Get("X-Request-Id") == "" {
		return 0, fmt.Errorf("an answer of %d lacks its headers: %v", o.status, o.header)
	}
	switch {
	case o.status == http.StatusOK && r.batch:
		return o.batchPoints(r)
	case o.status == http.StatusOK:
		return 1, o.expectFields("email", "valid", "mx")
	case o.status >= 500:
		return 0, o.expectShapeA()
	}
	return 0, nil
}

func (o *outcome) batchPoints(r request) (int64, error) {
	var e struct {
		Partial bool
		Total   int64
		Points  int64 `json:"usage_points"`
		Results []json.RawMessage
	}
	if err := json.Unmarshal(o.body, &e); err != nil {
		return 0, err
	}
	if e.Points != e.Total || int(e.Total) != len(e.Results) || !e.Partial && e.Points != r.cost() {
		return 0, fmt.Errorf("a batch of %d costs %d points and has %d results", r.cost(), e.Points, len(e.Results))
	}
	return e.Points, nil
}

// expectShapeA checks a problem against section 7 of the specification.
func (o *outcome) expectShapeA() error {
	var e struct {
		Status      int
		Error, Code string
	}
	if err := json.Unmarshal(o.body, &e); err != nil || e.Status != o.status || e.Error == "" || e.Code == "" {
		return fmt.Errorf("an answer of %d is not in shape A: %s", o.status, o.body)
	}
	if o.status == http.StatusServiceUnavailable && (e.Code != "REQUEST_CANCELLED" || o.header.Get("Retry-After") == "") {
		return fmt.Errorf("a 503 has the code %s and Retry-After %q", e.Code, o.header.Get("Retry-After"))
	}
	return nil
}

func (o *outcome) expectFields(names ...string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(o.body, &fields); err != nil {
		return err
	}
	for _, name := range names {
		if fields[name] == nil {
			return fmt.Errorf("an answer of %d lacks %s", o.status, name)
		}
	}
	return nil
}
