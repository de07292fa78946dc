// Package wire is the API's HTTP: what is read from a request before an operation begins, the problems
// of the contract, and the response. It knows no operation.
package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Body is what a request's body must be: JSON without a content coding.
type Body struct {
	Limit   int    // the most bytes
	TooLong string // the sentence of the 413
	NotJSON string // the sentence of the 415
}

// firstRead is the size in bytes of the buffer before the first byte of a body has arrived. The size
// doubles whenever the buffer is full.
const firstRead = 4 << 10

// Read reads the body. It calls reserve with the bytes of memory that it is about to use, in addition
// to those before.
func (b Body) Read(r *http.Request, reserve func(bytes int) *Problem) ([]byte, *Problem) {
	if p := b.checkType(r); p != nil {
		return nil, p
	}
	if r.ContentLength > int64(b.Limit) {
		return nil, BodyTooLarge.With(b.TooLong)
	}
	// One byte more than the body, so that the buffer need not grow to detect the end.
	most := b.Limit + 1
	if r.ContentLength >= 0 {
		most = int(r.ContentLength) + 1
	}
	var body []byte
	for {
		if len(body) == cap(body) {
			size := min(max(2*cap(body), firstRead), most)
			if p := reserve(size - cap(body)); p != nil {
				return nil, p
			}
			body = append(make([]byte, 0, size), body...)
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case len(body) > b.Limit:
			return nil, BodyTooLarge.With(b.TooLong)
		case err == io.EOF && len(body) > 0 && r.Header.Get("Content-Type") == "": // chunked; see checkType
			return nil, WrongMediaType.With(b.NotJSON)
		case err == io.EOF:
			return body, nil
		case err != nil:
			return nil, readProblem(err, len(body))
		}
	}
}

// checkType checks Content-Type and Content-Encoding. A request without a body needs no Content-Type.
// A chunked body may be empty, so Read checks its type after reading it.
func (b Body) checkType(r *http.Request) *Problem {
	given, one := SingleValue(r.Header, "Content-Type")
	encoding, oneEncoding := SingleValue(r.Header, "Content-Encoding")
	media, _, err := mime.ParseMediaType(given)
	switch {
	case !one:
		return Repeated("Content-Type")
	case !oneEncoding:
		return Repeated("Content-Encoding")
	case given == "" && r.ContentLength <= 0:
		return nil
	case err != nil || media != JSON:
		return WrongMediaType.With(b.NotJSON)
	case encoding != "" && encoding != "identity":
		return WrongMediaType.With("Send the body without a Content-Encoding.")
	}
	return nil
}

// readProblem returns the problem for an error after read bytes of the body.
func readProblem(err error, read int) *Problem {
	switch {
	case errors.Is(err, context.Canceled):
		return Unavailable("The request was cancelled before it was finished; nothing was charged.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return InvalidRequest.With(fmt.Sprintf("The body did not arrive in time; %d bytes of it did. "+
			"Send it at once, or send fewer addresses at a time.", read))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		p := InvalidRequest.With(TextBrokeOff(strconv.Itoa(read)))
		p.ClientClosed = true
		return p
	}
	return InvalidRequest.With(fmt.Sprintf("The body's chunked transfer coding is malformed after %d bytes "+
		"(RFC 9112 section 7.1).", read))
}

// Unread is a request's body, of which a part may be unread when the response is sent.
//
// net/http reads the rest of a body, up to 256 KiB, before it sends the response and again before it
// closes the connection. A client that never sends the rest would wait for the response, and keep the
// connection, for the whole read timeout.
type Unread struct {
	io.ReadCloser
	of       *http.Request // net/http's own
	complete bool
}

// Watch returns r with a body that is watched. It does not change r.Body, which net/http uses later. The
// names of trailers that r announces go, and so do the trailers once they are read, because a map of them
// takes 30 times their bytes: 1 MB for a field Trailer of 32 KiB.
func Watch(r *http.Request) (*http.Request, *Unread) {
	r.Trailer = nil
	body := &Unread{ReadCloser: r.Body, of: r}
	r = r.WithContext(r.Context())
	r.Body = body
	return r, body
}

func (u *Unread) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err == io.EOF {
		u.complete = true
		u.of.Trailer = nil
	}
	return n, err
}

// restTimeout is how long a client may take to send the rest of its body once the response is known.
// After that the response is sent and the connection closed.
const restTimeout = 250 * time.Millisecond

// LimitRest limits the time for the part of the body that is unread, before the response is sent. w must be
// net/http's own.
func (u *Unread) LimitRest(w http.ResponseWriter) {
	if u.complete {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(restTimeout)) // a test's writer has none
	if u.of.Close {
		// Where the client announced that it closes the connection, as proxies do, net/http would close it at
		// once, and the client, which is still sending, would lose the response. Once it knows that a body is
		// too large, net/http closes its own side first and waits.
		_, _ = http.MaxBytesReader(w, u.ReadCloser, 0).Read(make([]byte, 1))
	}
}
