// Package origintest starts a service in a test and connects to it. The tests of
// the origin, its parts and the edge worker share it with the contract and the
// soak; the product does not import it, and it imports nothing of the origin.
//
// A request is sent byte for byte, on a raw connection:
//
//	conn := origintest.Dial(t, address, 10*time.Second)
//	response, body := conn.Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").Response()
//
// [Exchange] does both for one request. The soak, which is not a test, uses
// [Connect] and [Start], which return errors.
package origintest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A Conn is the client's end of a TCP connection. Unlike net/http's client it
// never corrects a request and never sends one twice.
type Conn struct {
	*net.TCPConn
	reader *bufio.Reader
}

// Connect opens a connection. within limits the time to connect and, until
// SetDeadline changes it, the time of all reads and writes.
func Connect(address string, within time.Duration) (*Conn, error) {
	conn, err := net.DialTimeout("tcp", address, within)
	if err != nil {
		return nil, err
	}
	return &Conn{conn.(*net.TCPConn), bufio.NewReader(conn)}, conn.SetDeadline(time.Now().Add(within))
}

// ReadHeader reads a response up to its body, which the caller may read. The
// method is that of the request: a response to HEAD has no body.
func (c *Conn) ReadHeader(method string) (*http.Response, error) {
	return http.ReadResponse(c.reader, &http.Request{Method: method})
}

// ReadResponse reads a response to a request with this method, and its body.
func (c *Conn) ReadResponse(method string) (*http.Response, []byte, error) {
	response, err := c.ReadHeader(method)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, body, err
}

// A Request is one that HTTP/1.1 allows, however odd: net/http's client would
// correct the targets and headers that tests are about.
type Request struct {
	Method, Target string
	Header         []string // "Name: value", in the order sent
	Body           string
	Chunked        bool // Body has the form of the chunked coding (RFC 9112 section 7.1)
	KeepAlive      bool // send no "Connection: close"
}

// With returns the request with further header lines.
func (r Request) With(header ...string) Request {
	r.Header = append(r.Header[:len(r.Header):len(r.Header)], header...)
	return r
}

// Text returns the request as it is sent to host (RFC 9112). Content-Length is
// sent with every POST and every body that is not chunked.
func (r Request) Text(host string) string {
	var w strings.Builder
	fmt.Fprintf(&w, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Target, host)
	if !r.KeepAlive {
		w.WriteString("Connection: close\r\n")
	}
	for _, line := range r.Header {
		w.WriteString(line + "\r\n")
	}
	if !r.Chunked && (r.Body != "" || r.Method == http.MethodPost) {
		fmt.Fprintf(&w, "Content-Length: %d\r\n", len(r.Body))
	}
	return w.String() + "\r\n" + r.Body
}

// A TestConn is a [Conn] whose test fails when a response cannot be read.
type TestConn struct {
	*Conn
	t testing.TB
}

// Dial is [Connect] for a test, which closes the connection at its end.
func Dial(t testing.TB, address string, within time.Duration) *TestConn {
	t.Helper()
	conn, err := Connect(address, within)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &TestConn{conn, t}
}

// Send writes text. It ignores errors: a server may close the connection
// before it has read a request that it refuses.
func (c *TestConn) Send(text string) *TestConn {
	_, _ = io.WriteString(c, text)
	return c
}

// Header is [Conn.ReadHeader].
func (c *TestConn) Header(method string) *http.Response {
	c.t.Helper()
	response, err := c.ReadHeader(method)
	if err != nil {
		c.t.Fatalf("read the header of a response: %v", err)
	}
	return response
}

// Response reads a response to a request of any method but HEAD.
func (c *TestConn) Response() (*http.Response, string) {
	c.t.Helper()
	response, body, err := c.ReadResponse(http.MethodGet)
	if err != nil {
		c.t.Fatalf("read a response: %v", err)
	}
	return response, string(body)
}

// IsClosed waits for the next byte and reports whether the server closed or reset
// the connection instead.
func (c *TestConn) IsClosed() bool {
	_, err := c.reader.ReadByte()
	return err == io.EOF || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Exchange sends one request on a connection of its own and reads the response.
// It writes while it reads: a response such as 413 may arrive before the whole
// request is written.
func Exchange(t testing.TB, address, request string, within time.Duration) (*http.Response, string) {
	t.Helper()
	conn := Dial(t, address, within)
	defer conn.Close()
	go conn.Send(request)
	method, _, _ := strings.Cut(request, " ")
	response, body, err := conn.ReadResponse(method)
	if err != nil {
		t.Fatalf("read a response: %v", err)
	}
	return response, string(body)
}
