package api

import (
	"errors"
	"io"
	"net/http"
	"syscall"
	"time"
)

// An unreadBody records whether a body was read to its end.
//
// net/http reads the rest of a body, up to 256 KiB, before it sends the answer and
// again before it closes the connection. A client that never sends the rest would
// keep the connection for the whole read timeout, even if its key was refused.
type unreadBody struct {
	io.ReadCloser
	complete bool
}

func (b *unreadBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.complete = true
	}
	return n, err
}

// restTimeout is how long a client may take to send the rest of its body once the
// answer is known. After that the answer is sent and the connection closed.
const restTimeout = 250 * time.Millisecond

// watchBody returns a copy of r with an unreadBody. It does not change r, whose
// body net/http uses later.
func watchBody(r *http.Request) (*http.Request, *unreadBody) {
	if r.ContentLength == 0 {
		return r, nil
	}
	body := &unreadBody{ReadCloser: r.Body}
	r = r.WithContext(r.Context())
	r.Body = body
	return r, body
}

// limitRest sets the deadline restTimeout if a part of the body is unread, and
// reports whether it is. It is called before the answer is sent.
func (b *unreadBody) limitRest(w http.ResponseWriter) (unread bool) {
	if b == nil || b.complete {
		return false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(restTimeout)) // a test's writer has none
	return true
}

// isReset reports whether err means that the client has reset the connection.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
