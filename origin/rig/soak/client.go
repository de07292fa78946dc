package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/addrspec/addrspec/origin/rig/origintest"
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

// closedByServer reports whether the server has closed a connection, without reading
// from it.
func closedByServer(conn syscall.Conn) (closed bool) {
	socket, err := conn.SyscallConn()
	if err != nil {
		return true
	}
	err = socket.Read(func(fd uintptr) bool {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		closed = n == 0 && err == nil || err == syscall.ECONNRESET
		return true
	})
	return closed || err != nil
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

// A request is a single (one address by GET) or a batch (by POST).
type request struct {
	emails []string
	batch  bool
	once   string // Idempotency-Key, or ""
}

// cost returns the points of the request if all of it is charged.
func (r *request) cost() int64 { return int64(len(r.emails)) }

// text returns the request as it is sent.
func (r *request) text(key string, keepAlive bool) string {
	request := origintest.Request{Method: http.MethodGet, Header: []string{"X-API-Key: " + key}, KeepAlive: keepAlive}
	if r.once != "" {
		request = request.With("Idempotency-Key: " + r.once)
	}
	if r.batch {
		request = request.With("Content-Type: application/json")
		request.Method, request.Target, request.Body = http.MethodPost, "/v1/emails", r.body()
	} else {
		request.Target = "/v1/email/" + url.PathEscape(r.emails[0])
	}
	return request.Text("soak")
}

// body returns the body of a batch.
func (r *request) body() string {
	body, _ := json.Marshal(map[string][]string{"emails": r.emails}) // strings always encode
	return string(body)
}

// single returns a single about email.
func single(email string) request { return request{emails: []string{email}} }

// domainCount numbers new domains. It is global because the resolver is shared.
var domainCount atomic.Int64

// newEmail returns an address at a domain that was never looked up. The domain
// begins with prefix, for asNamed.
func newEmail(prefix string) string {
	return fmt.Sprintf("jane@%sfresh%d.bulk.example", prefix, domainCount.Add(1))
}

// newBatch returns a batch of new domains.
func newBatch(prefix string, size int) request {
	r := request{batch: true}
	for range size {
		r.emails = append(r.emails, newEmail(prefix))
	}
	return r
}

// usual returns a single about one of the usual domains.
func usual(n int) request { return single(fmt.Sprintf("user%d@d%d.bulk.example", n, n%domains)) }

// batchOf returns a batch of different addresses at the usual domains.
func batchOf(size, seed int) request {
	r := request{batch: true}
	for n := range size {
		r.emails = append(r.emails, fmt.Sprintf("user%d.%d@d%d.bulk.example", seed, n, (seed+n)%domains))
	}
	return r
}

// domains is the number of usual domains.
const domains = 40

// mixed returns singles and batches in turn. The lookup of some singles fails, so
// they cost nothing.
func mixed(client, n int) request {
	seed := client*1_000_000 + n
	switch n % 4 {
	case 0:
		return single(fmt.Sprintf("user%d@servfail.example", seed))
	case 1, 2:
		return single(fmt.Sprintf("user%d@d%d.bulk.example", seed, n%domains))
	}
	return batchOf(2+seed%9, seed)
}

// waiting returns singles and batches in turn that wait for the resolver.
func waiting(_, n int) request {
	if n%2 == 0 {
		return single(newEmail(silent))
	}
	return newBatch(silent, 1+n%mostWaiting)
}

// mostWaiting is the most addresses of a batch of waiting.
const mostWaiting = 9

// An outcome is what became of a request.
type outcome struct {
	kind   outcomeKind
	begun  time.Time // before the connection was made
	status int
	header http.Header
	body   []byte
	took   time.Duration
	err    error // of a cut connection
}

type outcomeKind int

const (
	responded outcomeKind = iota
	refused               // not sent, since no connection was accepted
	cut                   // sent, but the response is missing or incomplete: it may be charged
	hungUp                // the client hung up before the response: it may be charged
)

// points returns the cost that the response reports. It returns an error if the
// response differs from the contract.
func (o *outcome) points(r request) (points int64, err error) {
	if o.header.Get("Content-Type") != "application/json" || o.header.Get("X-Request-Id") == "" {
		return 0, fmt.Errorf("a response of %d lacks its headers: %v", o.status, o.header)
	}
	switch {
	case o.status == http.StatusOK && r.batch:
		return o.batchPoints(r)
	case o.status == http.StatusOK:
		return 1, o.checkFields("email", "valid", "mx")
	case o.status >= 500:
		return 0, o.checkShapeA()
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

// checkShapeA checks a problem against section 7 of the specification.
func (o *outcome) checkShapeA() error {
	var e struct {
		Status      int
		Error, Code string
	}
	if err := json.Unmarshal(o.body, &e); err != nil || e.Status != o.status || e.Error == "" || e.Code == "" {
		return fmt.Errorf("a response of %d is not in shape A: %s", o.status, o.body)
	}
	if o.status == http.StatusServiceUnavailable && (e.Code != "REQUEST_CANCELLED" || o.header.Get("Retry-After") == "") {
		return fmt.Errorf("a 503 has the code %s and Retry-After %q", e.Code, o.header.Get("Retry-After"))
	}
	return nil
}

func (o *outcome) checkFields(names ...string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(o.body, &fields); err != nil {
		return err
	}
	for _, name := range names {
		if fields[name] == nil {
			return fmt.Errorf("a response of %d lacks %s", o.status, name)
		}
	}
	return nil
}

// usedUp reports whether the month's points are used up. A 429 with Retry-After
// means only that requests in flight have claimed the rest.
func (o *outcome) usedUp() bool { return o.status == 429 && o.header.Get("Retry-After") == "" }

// claimed reports whether points may become available again soon.
func (o *outcome) claimed() bool { return o.status == 429 && !o.usedUp() }
