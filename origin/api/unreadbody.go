package api

import (
	"errors"
	"io"
	"net/http"
	"syscall"
	"time"
)

// An unreadBody notes whether a body was read to its end.
//
// net/http reads the rest of a body, up to 256 KiB, before it sends the answer,
// and once more before it closes the connection. A client that never sends that
// rest would hold the connection for the whole read timeout, even one whose key
// was refused.
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

// restOfBody is how long a client may take to send what it has begun, once the
// answer is known; then the connection is closed after the answer.
const restTimeout = 250 * time.Millisecond

// watchBody returns r with a body that hurry can judge. It leaves r itself as it
// is: net/http looks at its body later.
func watchBody(r *http.Request) (*http.Request, *unreadBody) {
	if r.ContentLength == 0 {
		return r, nil
	}
	body := &unreadBody{ReadCloser: r.Body}
	r = r.WithContext(r.Context())
	r.Body = body
	return r, body
}

// hurry is called before the answer is sent. It reports whether a part of the
// body is unread.
func (b *unreadBody) limitRest(w http.ResponseWriter) (unread bool) {
	if b == nil || b.complete {
		return false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(restTimeout)) // a test's writer has none
	return true
}

// isReset reports whether the client has closed the connection for good.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
