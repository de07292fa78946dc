package api

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// net/http answers requests that are not well-formed HTTP in plain text, before
// any handler runs. conn replaces these answers by those of the contract: JSON in
// shape A with a request id.
//
// net/http writes such an answer in one call. It is either a 417, or has a header
// that declares plain text. Our handlers send neither.

// plainHeader is the whole header of every such answer except 417.
const plainHeader = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// maxProtocolAnswer is an upper bound on the length of such an answer in bytes.
const maxProtocolAnswer = 1024

// protocolProblem returns the problem that replaces p, an error answer of
// net/http, or nil if p is not one.
func protocolProblem(p []byte) *problem {
	if len(p) > maxProtocolAnswer || len(p) <= len("HTTP/1.1 ") || !bytes.HasPrefix(p, []byte("HTTP/1.")) || p[len("HTTP/1.1 ")] < '4' {
		return nil
	}
	line, rest, _ := strings.Cut(string(p), "\r\n")
	status, reason := parseStatus(line)
	if status == http.StatusExpectationFailed || status >= 400 && strings.HasPrefix(rest, plainHeader) {
		return newProtocolProblem(status, reason)
	}
	return nil
}

// parseStatus parses a status line (RFC 9112 section 4). status is 0 if line is
// not one.
func parseStatus(line string) (status int, reason string) {
	_, rest, _ := strings.Cut(line, " ")
	digits, reason, _ := strings.Cut(rest, " ")
	status, err := strconv.Atoi(digits)
	if err != nil || len(digits) != 3 {
		return 0, ""
	}
	return status, reason
}

func newProtocolProblem(status int, reason string) *problem {
	p := badHTTP.with(protocolSentence(status, reason))
	p.status = status
	return p
}

// protocolSentence returns the sentence for a status and, for 400, for the text
// that net/http writes after "Bad Request: ".
func protocolSentence(status int, reason string) string {
	switch status {
	case http.StatusExpectationFailed:
		return "The Expect header asks for something else than 100-continue, the only expectation there is (RFC 9110 section 10.1.1); leave it out."
	case http.StatusRequestHeaderFieldsTooLarge:
		return "The request line and headers are over 64 KiB; send fewer or shorter headers."
	case http.StatusNotImplemented:
		return "The Transfer-Encoding is not known; send the body with Content-Length or in chunks (RFC 9112 section 6.1)."
	case http.StatusHTTPVersionNotSupported:
		return "The request's version of HTTP is not supported; use HTTP/1.1."
	}
	_, what, _ := strings.Cut(reason, ": ")
	if sentence, known := badRequests[what]; known {
		return sentence
	}
	return "The request line, a header or the length of the body is not well-formed HTTP (RFC 9112), or the path has a percent sign that is not followed by two hexadecimal digits (write %25)."
}

var badRequests = map[string]string{
	"missing required Host header": "The request has no Host header, which HTTP/1.1 requires (RFC 9112 section 3.2).",
	"malformed Host header":        "The Host header is not a host name with an optional port (RFC 9110 section 7.2).",
	"invalid header name":          "The name of a header has a character that is not allowed (RFC 9110 section 5.1).",
	"invalid header value":         "The value of a header has a control character (RFC 9110 section 5.5).",
}

// rawResponse returns a raw response in shape A with Connection: close, for
// problems that reach no handler.
func rawResponse(p *problem, headers string) []byte {
	body := p.body(flat)
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n%s: %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		p.status, http.StatusText(p.status), contentJSON, headerRequestID, requestID(""), headers, len(body), body)
}
