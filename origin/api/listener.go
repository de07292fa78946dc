package api

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
)

// Listener makes what net/http says by itself, before any handler runs, an
// answer of the contract: JSON in shape A with a request id. It concerns
// requests that are not well-formed HTTP: a broken request line or header, a
// percent sign without two hexadecimal digits in the path, too long a header.
//
// net/http writes such a refusal in one piece that starts with a status of 4xx
// or 5xx and declares plain text, which no handler of ours ever does.
func Listener(inner net.Listener) net.Listener { return listener{inner} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

type conn struct{ net.Conn }

// plainRefusal ends the header of every refusal of net/http itself.
var plainRefusal = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// Write passes p on, or the contract's answer in place of a plain refusal.
func (c conn) Write(p []byte) (int, error) {
	status, ok := plainStatus(p)
	if !ok {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(protocolError(status)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite lets net/http end a connection gently, as on a bare one.
func (c conn) CloseWrite() error { return halfClose(c.Conn) }

func halfClose(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func plainStatus(p []byte) (status int, ok bool) {
	line, rest, found := bytes.Cut(p, []byte("\r\n"))
	if !found || !bytes.HasPrefix(p[len(line):], plainRefusal) || len(rest) > 4096 {
		return 0, false
	}
	_, err := fmt.Sscanf(string(line), "HTTP/1.1 %d", &status)
	return status, err == nil && status >= 400
}

// protocolError is the whole answer to a request that is not HTTP as it should be.
func protocolError(status int) []byte {
	f := badHTTP.with("The request is not well-formed HTTP, or its path holds a percent sign that is not followed by two hexadecimal digits (write %25).")
	if status == http.StatusRequestHeaderFieldsTooLarge {
		f.message = "The request line and headers are over 64 KiB."
	}
	f.status = status
	return rawAnswer(f, "")
}

// rawAnswer is a whole answer where no handler gives one; it ends the connection.
func rawAnswer(f *fault, headers string) []byte {
	body := f.body()
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nCache-Control: no-store\r\n%s: %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		f.status, http.StatusText(f.status), contentJSON, headerRequestID, requestID(""), headers, len(body), body)
}
