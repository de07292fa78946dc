package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
)

// A code is a kind of problem: the word that a program reads, the HTTP status
// that goes with it, and the shape of its body. codes.go has them all; it is
// generated from the table that the worker has too (origin/contract/problems).
type code struct {
	name   string
	status int
	shape  shape
}

// with is a problem of this code.
func (c code) with(message string) *problem { return &problem{code: c, message: message} }

// A problem is an error answer: why a request is not answered with 200.
type problem struct {
	code
	message      string
	extra        extra
	retryAfter   time.Duration
	clientClosed bool // the client ended its side of the connection before the answer
}

// extra holds the further members that some codes of shape B carry.
type extra struct {
	MaxAllowed *int   `json:"max_allowed,omitempty"`
	Received   *int   `json:"received,omitempty"`
	Required   *int64 `json:"required,omitempty"`
	Remaining  *int64 `json:"remaining,omitempty"`
}

// A shape is one of the three forms of an error body in the contract.
type shape uint8

const (
	flat      shape = iota // A: status, error, code
	enveloped              // B: success false, error {code, message, further members}
	rate                   // C: status, title, detail
	ofInput                // that of the operation's problems with the request's input
)

// shapeIn is the shape of the problem for an operation whose problems with the
// request's input have the shape input.
func (p *problem) shapeIn(input shape) shape {
	if p.shape == ofInput {
		return input
	}
	return p.shape
}

// response is the problem as an answer; see shapeIn for input.
func (p *problem) response(input shape) response {
	return response{status: p.status, body: p.body(p.shapeIn(input)), retryAfter: p.retryAfter, clientClosed: p.clientClosed}
}

func (p *problem) body(s shape) []byte {
	switch s {
	case enveloped:
		return encode(struct {
			Success bool `json:"success"`
			Error   any  `json:"error"`
		}{false, struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			extra
		}{p.name, p.message, p.extra}})
	case rate:
		return encode(struct {
			Status int    `json:"status"`
			Title  string `json:"title"`
			Detail string `json:"detail"`
		}{p.status, http.StatusText(p.status), p.message})
	}
	return encode(struct {
		Status int    `json:"status"`
		Error  string `json:"error"`
		Code   string `json:"code"`
	}{p.status, p.message, p.name})
}

// encode writes v as JSON without the escapes that only HTML needs. The values
// are the structs of this package, which always encode.
func encode(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func internalProblem() *problem {
	return internal.with(textDefect)
}

// unavailable is the 503 of a condition that is expected to pass.
func unavailable(message string) *problem {
	p := cancelled.with(message)
	p.retryAfter = time.Second
	return p
}
