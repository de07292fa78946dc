package api

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
)

// Listener replaces the plain-text answers that net/http sends before any
// handler runs by answers of the contract: JSON in shape A with a request id.
// net/http sends them for requests that are not well-formed HTTP: a broken
// request line or header, a percent sign without two hexadecimal digits in the
// path, a header that is too long.
//
// net/http writes such an answer in one piece that starts with a status of 4xx
// or 5xx and declares plain text, which no handler of ours does.
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

// plainHeader ends the header of every answer of net/http itself.
var plainHeader = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// Write writes p, or the contract's answer if p is one of net/http itself.
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

// CloseWrite lets net/http close its half of the connection first.
func (c conn) CloseWrite() error { return halfClose(c.Conn) }

func halfClose(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func plainStatus(p []byte) (status int, ok bool) {
	line, rest, found := bytes.Cut(p, []byte("\r\n"))
	if !found || !bytes.HasPrefix(p[len(line):], plainHeader) || len(rest) > 4096 {
		return 0, false
	}
	_, err := fmt.Sscanf(string(line), "HTTP/1.1 %d", &status)
	return status, err == nil && status >= 400
}

// protocolError is the whole answer to a request that is not well-formed HTTP.
func protocolError(status int) []byte {
	p := badHTTP.with("The request is not well-formed HTTP, or its path has a percent sign that is not followed by two hexadecimal digits (write %25).")
	if status == http.StatusRequestHeaderFieldsTooLarge {
		p.message = "The request line and headers are over 64 KiB."
	}
	p.status = status
	return rawAnswer(p, "")
}

// rawAnswer is a whole answer in shape A that no handler sends; it ends the
// connection.
func rawAnswer(p *problem, headers string) []byte {
	body := p.body(flat)
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nCache-Control: no-store\r\n%s: %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		p.status, http.StatusText(p.status), contentJSON, headerRequestID, requestID(""), headers, len(body), body)
}
