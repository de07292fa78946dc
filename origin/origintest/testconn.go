package origintest

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

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
	return c.response(http.MethodGet)
}

func (c *TestConn) response(method string) (*http.Response, string) {
	c.t.Helper()
	response, body, err := c.ReadResponse(method)
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
	return conn.response(method)
}
