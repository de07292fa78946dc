package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
)

// A code is a kind of problem: its name for programs, the HTTP status, and the
// shape of the body. The codes are in codes.go, which is generated from the table
// that the worker uses too (origin/contract/problems).
type code struct {
	name   string
	status int
	shape  shape
}

// with returns a problem of this code.
func (c code) with(message string) *problem { return &problem{code: c, message: message} }

// A problem is an error answer.
type problem struct {
	code
	message      string
	extra        extra
	retryAfter   time.Duration
	clientClosed bool // the client closed its side of the connection before the answer
}

// extra has the further members that some codes of shape B have.
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
	ofInput                // the operation's inputShape
)

// shapeIn returns the shape of the problem in an operation with the inputShape
// input.
func (p *problem) shapeIn(input shape) shape {
	if p.shape == ofInput {
		return input
	}
	return p.shape
}

// response returns the response of the problem; see shapeIn for input.
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

// encode returns v as JSON without HTML escapes. v is a struct of this package,
// so encoding never fails.
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

// unavailable returns a 503 for a condition that is expected to pass.
func unavailable(message string) *problem {
	p := cancelled.with(message)
	p.retryAfter = time.Second
	return p
}
