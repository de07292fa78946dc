package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/addrspec/addrspec/origin/words"
)

// Code is a kind of problem: its name for programs, the HTTP status, and the shape of the body.
// The codes are in codes.go, which is generated from the table that the worker uses too
// (origin/rig/contract/problems).
type Code struct {
	Name   string
	Status int
	Shape  Shape
}

// With returns a problem of the code.
func (c Code) With(message string) *Problem { return &Problem{Code: c, Message: message} }

// Problem is an error response.
type Problem struct {
	Code
	Message      string
	Extra        Extra         // further members of shape B
	Opted        Opted         // further members of shape A
	RetryAfter   time.Duration // 0 for none
	Challenge    string        // of a 401; "" for that of the code
	ClientClosed bool          // see Response
}

// Extra has the further members that some codes of shape B have.
type Extra struct {
	MaxAllowed *int   `json:"max_allowed,omitempty"`
	Received   *int   `json:"received,omitempty"`
	Required   *int64 `json:"required,omitempty"`
	Remaining  *int64 `json:"remaining,omitempty"`
}

// Opted has the members that a caller opted in for, of a problem with an address.
type Opted struct {
	Details json.RawMessage `json:"details,omitempty"`
	Verdict json.RawMessage `json:"verdict,omitempty"`
}

// Shape is one of the three forms of an error body in the contract.
type Shape uint8

// The shapes of the contract. Problems with the input have the shape of the operation: Enveloped
// for a batch, else Flat.
const (
	Flat      Shape = iota // A: status, error, code
	Enveloped              // B: success false, error {code, message, further members}
	Rate                   // C: status, title, detail
	ofInput                // that of the operation
)

// challenges has the value of WWW-Authenticate for each kind of 401 (RFC 9110 section 11.6.1). No
// browser shows a dialog for these schemes. The scheme for keys is of RFC 6750 section 3; those for
// signatures and for sessions are not registered.
var challenges = map[Code]string{
	InvalidKey:       TextChallenge,
	InvalidSignature: `Webhook-Signature realm="addrspec"`,
}

// Response returns the response of the problem in an operation with the shape input.
func (p *Problem) Response(input Shape) Response {
	shape := p.Shape
	if shape == ofInput {
		shape = input
	}
	var body any
	switch shape {
	case Enveloped:
		type inner struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Extra
		}
		body = struct {
			Success bool  `json:"success"`
			Error   inner `json:"error"`
		}{false, inner{p.Name, p.Message, p.Extra}}
	case Rate:
		body = struct {
			Status int    `json:"status"`
			Title  string `json:"title"`
			Detail string `json:"detail"`
		}{p.Status, http.StatusText(p.Status), p.Message}
	default:
		body = struct {
			Status int    `json:"status"`
			Error  string `json:"error"`
			Code   string `json:"code"`
			Opted
		}{p.Status, p.Message, p.Name, p.Opted}
	}
	r := Response{Status: p.Status, Body: Encode(body), RetryAfter: p.RetryAfter, ClientClosed: p.ClientClosed}
	challenge := cmp.Or(p.Challenge, challenges[p.Code])
	if challenge != "" {
		r.Fields = []Field{{"Www-Authenticate", challenge}}
	}
	return r
}

// Encode returns v, a struct of the API, as JSON without HTML escapes.
func Encode(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) // such a struct never fails
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// Defect returns the 500 for a defect of the service.
func Defect() *Problem { return Internal.With(TextDefect) }

// Unavailable returns a 503 for a condition that should pass.
func Unavailable(message string) *Problem {
	p := Cancelled.With(message)
	p.RetryAfter = time.Second
	return p
}

// Limited returns a 429 for a limit that allows requests again after wait, at least a second. The
// message is what follows "Rate limit exceeded: ", with %s for the seconds to wait.
func Limited(message string, wait time.Duration) *Problem {
	p := TooMany.With(fmt.Sprintf("Rate limit exceeded: "+message, words.Seconds(wait)))
	p.RetryAfter = max(wait, time.Second)
	return p
}

// sentences are what is wrong with a request that net/http refuses before any handler runs.
var sentences = map[int]string{
	http.StatusBadRequest: "The request is not well-formed HTTP (RFC 9112): the request line or a header is malformed, " +
		"for instance a percent sign that is not written %25.",
	http.StatusExpectationFailed: "The Expect header asks for something else than 100-continue, the only expectation " +
		"there is (RFC 9110 section 10.1.1); leave it out.",
	http.StatusRequestHeaderFieldsTooLarge: "The request line and headers are over 32 KiB, 100 lines or 500 commas; " +
		"send fewer or shorter headers.",
	http.StatusNotImplemented: "The Transfer-Encoding is not known; send the body with Content-Length or in chunks " +
		"(RFC 9112 section 6.1).",
	http.StatusHTTPVersionNotSupported: "The request's version of HTTP is not supported; use HTTP/1.1.",
	http.StatusServiceUnavailable:      "The service has too many open connections; nothing was charged. Try again shortly.",
}

// Refusal returns the whole response to a request that reaches no handler, and closes its connection.
func Refusal(status int) []byte {
	p, retryAfter := BadHTTP.With(cmp.Or(sentences[status], "The request is not well-formed HTTP (RFC 9112).")), ""
	p.Status = status
	switch status {
	case http.StatusBadRequest:
		p.Code = InvalidRequest
	case http.StatusServiceUnavailable:
		p.Code, retryAfter = Cancelled, "Retry-After: 1\r\n"
	}
	body := p.Response(Flat).Body
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nCache-Control: no-store\r\n"+
		"X-Content-Type-Options: nosniff\r\n%s: %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), JSON, HeaderRequestID, NewRequestID(), retryAfter, len(body), body)
}
