package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/miekg/dns"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// A client sends requests on one connection at a time. Unlike net/http's client
// it never sends a request twice, so that charges can be counted.
type client struct {
	address   string
	key       string
	keepAlive bool
	conn      *origintest.Conn
}

// exchangeTimeout is the longest time of one exchange; a later response is a
// failure.
const exchangeTimeout = 20 * time.Second

// An outcome is what became of a request.
type outcome struct {
	begun  time.Time // before the connection was made
	took   time.Duration
	sent   bool  // a connection was accepted: even without a response the request may be charged
	err    error // why there is no response
	status int
	header http.Header
	body   []byte
}

// send sends a request and reads its response. It reuses the connection unless the server has
// closed it. A server may close one that is idle, as at the end of a stop, and on a busy machine a
// client may send nothing for longer than a stop takes (RFC 9112 section 9.5).
func (c *client) send(r request) (o outcome) {
	o.begun = time.Now()
	defer func() { o.took = time.Since(o.begun) }()
	if c.conn != nil && closedByServer(c.conn) {
		c.close()
	}
	if c.conn == nil {
		conn, err := origintest.Connect(c.address, exchangeTimeout)
		if err != nil {
			o.err = err
			return o
		}
		c.conn = conn
	}
	o.sent = true
	c.conn.SetDeadline(time.Now().Add(cmp.Or(r.patience, exchangeTimeout)))
	_, err := io.WriteString(c.conn, r.text(c.key, c.keepAlive))
	var response *http.Response
	if err == nil {
		response, o.body, err = c.conn.ReadResponse(http.MethodGet)
	}
	if err != nil {
		o.err = err
		c.close()
		return o
	}
	o.status, o.header = response.StatusCode, response.Header
	if !c.keepAlive || response.Close {
		c.close()
	}
	return o
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

func (c *client) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// points returns the cost that the response reports. It returns an error if the
// response differs from the contract.
func (o *outcome) points(r request) (points int64, err error) {
	if o.header.Get("Content-Type") != "application/json" || o.header.Get("X-Request-Id") == "" {
		return 0, fmt.Errorf("a response of %d lacks its headers: %v", o.status, o.header)
	}
	if o.status != http.StatusOK && o.status < 500 {
		return 0, nil
	}
	var body struct {
		Email, Valid, MX json.RawMessage // of a result
		Partial          bool            // of a batch, as the next three
		Total            int64
		Points           int64 `json:"usage_points"`
		Results          []json.RawMessage
		Status           int // of a problem in shape A
		Error, Code      string
	}
	if err := json.Unmarshal(o.body, &body); err != nil {
		return 0, fmt.Errorf("the body of a response of %d: %w: %s", o.status, err, o.body)
	}
	switch {
	case o.status == http.StatusInternalServerError:
		err = fmt.Errorf("a response is 500: %s", o.body)
	case o.status > 500 && (body.Status != o.status || body.Error == "" || body.Code == ""):
		err = fmt.Errorf("a response of %d is not in shape A: %s", o.status, o.body)
	case o.status == http.StatusServiceUnavailable &&
		(body.Code != "REQUEST_CANCELLED" || o.header.Get("Retry-After") == ""):
		err = fmt.Errorf("a 503 has the code %s and Retry-After %q", body.Code, o.header.Get("Retry-After"))
	case o.status > 500:
	case !r.batch:
		points = 1
		if body.Email == nil || body.Valid == nil || body.MX == nil {
			err = fmt.Errorf("a result lacks a member: %s", o.body)
		}
	default:
		points = body.Points
		if points != body.Total || int(points) != len(body.Results) || !body.Partial && points != r.cost() {
			err = fmt.Errorf("a batch of %d costs %d points and has %d results", r.cost(), points, len(body.Results))
		}
	}
	return points, err
}

// A request is a single (one address by GET) or a batch (by POST).
type request struct {
	emails []string
	batch  bool
	once   string // Idempotency-Key, or ""

	patience time.Duration // after it the client hangs up; 0: exchangeTimeout
}

// cost returns the points of the request if all of it is charged.
func (r *request) cost() int64 { return int64(len(r.emails)) }

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

func (r *request) body() string {
	body, _ := json.Marshal(map[string][]string{"emails": r.emails}) // strings always encode
	return string(body)
}

func single(email string) request { return request{emails: []string{email}} }

// usual returns a single about one of the usual domains.
func usual(_, n int) request { return single(fmt.Sprintf("user%d@d%d.bulk.example", n, n%domains)) }

// domains is the number of usual domains.
const domains = 40

// batchOf returns a batch of different addresses at the usual domains.
func batchOf(size, seed int) request {
	r := request{batch: true}
	for n := range size {
		r.emails = append(r.emails, fmt.Sprintf("user%d.%d@d%d.bulk.example", seed, n, (seed+n)%domains))
	}
	return r
}

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

// domainCount numbers new domains. It is global because the resolver is shared.
var domainCount atomic.Int64

// newEmail returns an address at a domain that was never looked up. The domain
// begins with prefix, for asNamed.
func newEmail(prefix string) string {
	return fmt.Sprintf("jane@%sfresh%d.bulk.example", prefix, domainCount.Add(1))
}

// The prefixes of domains for asNamed.
const (
	silent = "silent-" // the resolver never replies
	late   = "late-"   // it replies after lateness

	lateness = time.Second
)

// asNamed is the usual reply, as the prefix of the domain requires.
func asNamed(w dns.ResponseWriter, reply *dns.Msg) {
	name := reply.Question[0].Name
	if strings.HasPrefix(name, silent) {
		return
	}
	if strings.HasPrefix(name, late) {
		time.Sleep(lateness)
	}
	mxtest.Answer(w, reply)
}
