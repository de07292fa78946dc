package origintest

import (
	"fmt"
	"net/http"
	"strings"
)

// A Request is one that HTTP/1.1 allows, however odd: net/http's client would
// correct the targets and headers that tests are about.
type Request struct {
	Method, Target string
	Header         []string // "Name: value", in the order sent
	Body           string
	Chunked        bool // Body has the form of the chunked coding (RFC 9112 section 7.1)
	KeepAlive      bool // send no "Connection: close"
}

// With returns the request with further header lines.
func (r Request) With(header ...string) Request {
	r.Header = append(r.Header[:len(r.Header):len(r.Header)], header...)
	return r
}

// Text returns the request as it is sent to host (RFC 9112). Content-Length is
// sent with every POST and every body that is not chunked.
func (r Request) Text(host string) string {
	var w strings.Builder
	fmt.Fprintf(&w, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Target, host)
	if !r.KeepAlive {
		w.WriteString("Connection: close\r\n")
	}
	for _, line := range r.Header {
		w.WriteString(line + "\r\n")
	}
	if !r.Chunked && (r.Body != "" || r.Method == http.MethodPost) {
		fmt.Fprintf(&w, "Content-Length: %d\r\n", len(r.Body))
	}
	return w.String() + "\r\n" + r.Body
}
