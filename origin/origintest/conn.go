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
	"io"
	"net"
	"net/http"
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
