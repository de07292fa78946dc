package api

import (
	"io"
	"net"
	"time"
)

// lingerTime is how long a connection that is closed while its client may still
// be sending is read from. Closing it with unread bytes would reset it, and the
// client might lose the answer (RFC 9112 section 9.6).
const (
	lingerTime = 500 * time.Millisecond
	lingerSize = 256 << 10 // bytes; net/http reads as many, and beyond that waits first
)

// closeGently closes c once its client has closed it, the time is up, or too much
// has come.
func lingeringClose(c net.Conn, within time.Duration) error {
	_ = halfClose(c)
	_ = c.SetReadDeadline(time.Now().Add(within))
	_, _ = io.CopyN(io.Discard, c, lingerSize) // until the client closes, or the deadline
	return c.Close()
}

func halfClose(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
