package api

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
)

// If a path has a percent sign without two hexadecimal digits, net/http refuses
// the request before any handler runs. For GET /v1/email/{email} the contract
// requires INVALID_EMAIL_FORMAT, after the key and the rate are checked. So conn
// stores the start of such a request. When net/http refuses it, conn passes it to
// the handler, with the path as sent in RequestURI only.
//
// This requires that conn recognizes where a request starts: at the start of the
// connection and after each answer. A request that was sent before the previous
// answer, or whose header is longer than maxRequestStart, gets net/http's error
// in shape A.

// maxRequestStart is the largest number of bytes stored of a request, up to the
// end of its header.
const maxRequestStart = 16 << 10

// A requestStart stores the first bytes of a request whose path may be malformed.
type requestStart struct {
	mu    sync.Mutex
	known bool // bytes starts where the request starts
	bytes []byte
}

// begin marks the next byte as the first of a request.
func (s *requestStart) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known, s.bytes = true, nil
}

// add appends p. A request whose path is well-formed is not stored.
func (s *requestStart) add(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known || len(p) == 0 {
		return
	}
	start := p
	if len(s.bytes) > 0 {
		start = append(s.bytes, p...)
	}
	target, whole := requestTarget(start)
	if s.known = len(start) <= maxRequestStart && (!whole || bytes.IndexByte(target, '%') >= 0 && hasBrokenPercent(string(target))); !s.known {
		s.bytes = nil
		return
	}
	s.bytes = append(s.bytes, p...)
}

// take returns the stored bytes and the target if they start a request with a
// malformed path, and nil otherwise. It resets s.
func (s *requestStart) take() (start []byte, target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	start, s.bytes, s.known = s.bytes, nil, false
	if target, whole := requestTarget(start); whole && hasBrokenPercent(string(target)) {
		return start, string(target)
	}
	return nil, ""
}

// requestTarget returns the target in the request line (RFC 9112 section 3), nil
// unless the method is GET or HEAD, and whether the line is complete.
func requestTarget(start []byte) (target []byte, whole bool) {
	line, _, whole := bytes.Cut(start, []byte("\n"))
	method, rest, _ := bytes.Cut(line, []byte(" "))
	target, _, ok := bytes.Cut(rest, []byte(" "))
	if !ok || string(method) != http.MethodGet && string(method) != http.MethodHead {
		return nil, whole
	}
	return target, whole
}

// hasBrokenPercent reports whether target is a path of GET /v1/email/{email} with
// a percent sign that is not followed by two hexadecimal digits.
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

// answerMalformedPath returns the handler's answer to a request that net/http
// refused for its path, or nil if it refused it for another reason.
func (c *conn) answerMalformedPath() []byte {
	start, target := c.start.take()
	if start == nil {
		return nil
	}
	repaired := bytes.Replace(start, []byte(target), []byte(singlePrefix+"%25"), 1)
	rest := io.LimitReader(c, maxRequestStart) // of the header, within net/http's deadline
	r, err := http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(repaired), rest)))
	if err != nil {
		return nil
	}
	r.RequestURI = target
	w := &responseBuffer{header: http.Header{}}
	c.handler.ServeHTTP(w, r)
	return w.bytes(r)
}

// A responseBuffer is an http.ResponseWriter that stores the response.
type responseBuffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *responseBuffer) Header() http.Header         { return w.header }
func (w *responseBuffer) WriteHeader(status int)      { w.status = status }
func (w *responseBuffer) Write(p []byte) (int, error) { return w.body.Write(p) }

// bytes returns the raw response to r, with Connection: close.
func (w *responseBuffer) bytes(r *http.Request) []byte {
	answer := http.Response{Request: r, ProtoMajor: 1, ProtoMinor: 1, StatusCode: w.status, Header: w.header,
		ContentLength: int64(w.body.Len()), Body: io.NopCloser(&w.body), Close: true}
	var wire bytes.Buffer
	_ = answer.Write(&wire) // a bytes.Buffer never fails
	return wire.Bytes()
}
