package api

import (
	"io"
	"net"
	"time"
)

// Closing a connection with unread bytes resets it, and the client may lose the
// answer (RFC 9112 section 9.6). So a connection whose client may still be
// sending is half-closed first and then read from for a while.
const (
	lingerTime = 500 * time.Millisecond
	// lingerSize is in bytes: a body over the limit is read whole if it is not twice
	// as long. A proxy that is still sending when the connection is reset may report
	// that and not the answer, so deploy/Caddyfile refuses longer ones itself.
	lingerSize = 2 * maxBody
)

// lingeringClose half-closes c and reads from it until the client closes it, time
// is up or lingerSize bytes have arrived. Then it closes c.
func lingeringClose(c net.Conn, within time.Duration) error {
	_ = halfClose(c)
	_ = c.SetReadDeadline(time.Now().Add(within))
	_, _ = io.CopyN(io.Discard, c, lingerSize)
	return c.Close()
}

func halfClose(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
