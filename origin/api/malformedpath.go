package api

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
)

// net/http refuses a request whose path has a percent sign without two
// hexadecimal digits before any handler runs. In the address of a single request
// that is INVALID_EMAIL_FORMAT, after the key and the rate were judged. So a conn
// keeps the begin of such a request, and when net/http has refused it, passes it
// to the handler with its path as it was sent in RequestURI only.
//
// This works for requests whose begin is known: the first of a connection, and
// every one that follows the answer to another. One that was sent before that
// answer gets the refusal of net/http in shape A, and so does one longer than
// maxOpening.

// maxOpening is the most bytes that are kept of a request, up to the end of its
// header.
const maxRequestStart = 16 << 10

// An opening is what has come of a request whose path may be broken.
type requestStart struct {
	mu    sync.Mutex
	known bool // bytes begins where the request begins
	bytes []byte
}

// begin notes that the next byte is the first of a request.
func (o *requestStart) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known, o.bytes = true, nil
}

// add notes that p has come. A request whose path is in order is not kept.
func (o *requestStart) add(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.known || len(p) == 0 {
		return
	}
	come := p
	if len(o.bytes) > 0 {
		come = append(o.bytes, p...)
	}
	target, whole := requestTarget(come)
	if o.known = len(come) <= maxRequestStart && (!whole || bytes.IndexByte(target, '%') >= 0 && hasBrokenPercent(string(target))); !o.known {
		o.bytes = nil
		return
	}
	o.bytes = append(o.bytes, p...)
}

// take returns what is known to be a request with a broken path, and its target.
func (o *requestStart) take() (come []byte, target string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	come, o.bytes, o.known = o.bytes, nil, false
	if target, whole := requestTarget(come); whole && hasBrokenPercent(string(target)) {
		return come, string(target)
	}
	return nil, ""
}

// requestTarget is the target in the request line (RFC 9112 section 3) of a GET
// or HEAD, and whether that line is whole.
func requestTarget(come []byte) (target []byte, whole bool) {
	line, _, whole := bytes.Cut(come, []byte("\n"))
	method, rest, _ := bytes.Cut(line, []byte(" "))
	target, _, ok := bytes.Cut(rest, []byte(" "))
	if !ok || string(method) != http.MethodGet && string(method) != http.MethodHead {
		return nil, whole
	}
	return target, whole
}

// brokenPercent reports whether the path of a single request has a percent sign
// that is not followed by two hexadecimal digits.
func hasBrokenPercent(target string) bool {
	path, _, _ := strings.Cut(target, "?")
	if !strings.HasPrefix(path, singlePrefix) {
		return false
	}
	for n := strings.IndexByte(path, '%'); n >= 0; {
		if len(path) < n+3 || !isHex(path[n+1]) || !isHex(path[n+2]) {
			return true
		}
		next := strings.IndexByte(path[n+3:], '%')
		if next < 0 {
			return false
		}
		n += 3 + next
	}
	return false
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// answerBroken is the handler's answer to a request that net/http refused for
// its path, or nil if it refused it for something else.
func (c *conn) answerMalformedPath() []byte {
	come, target := c.start.take()
	if come == nil {
		return nil
	}
	mended := bytes.Replace(come, []byte(target), []byte(singlePrefix+"%25"), 1)
	rest := io.LimitReader(c, maxRequestStart) // of the header, within net/http's deadline
	r, err := http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(mended), rest)))
	if err != nil {
		return nil
	}
	r.RequestURI = target
	w := &responseBuffer{header: http.Header{}}
	c.handler.ServeHTTP(w, r)
	return w.bytes(r)
}

// An answerWriter keeps an answer.
type responseBuffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *responseBuffer) Header() http.Header         { return w.header }
func (w *responseBuffer) WriteHeader(status int)      { w.status = status }
func (w *responseBuffer) Write(p []byte) (int, error) { return w.body.Write(p) }

// wire is the answer to r as it is sent; it ends the connection.
func (w *responseBuffer) bytes(r *http.Request) []byte {
	answer := http.Response{Request: r, ProtoMajor: 1, ProtoMinor: 1, StatusCode: w.status, Header: w.header,
		ContentLength: int64(w.body.Len()), Body: io.NopCloser(&w.body), Close: true}
	var wire bytes.Buffer
	_ = answer.Write(&wire) // a bytes.Buffer does not fail
	return wire.Bytes()
}
