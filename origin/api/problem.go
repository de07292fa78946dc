package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/wasm/host"
)

// A code is a kind of problem: its name for programs, the HTTP status, and the
// shape of the body. The codes are in codes.go, which is generated from the table
// that the worker uses too (origin/rig/contract/problems).
type code struct {
	name   string
	status int
	shape  shape
}

// with returns a problem of this code.
func (c code) with(message string) *problem { return &problem{code: c, message: message} }

// A problem is an error response.
type problem struct {
	code
	message      string
	extra        extra
	retryAfter   time.Duration
	clientClosed bool // the client closed its side of the connection before the response
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
	return response{status: p.status, body: p.body(p.shapeIn(input)), retryAfter: p.retryAfter, challenge: challenges[p.code], clientClosed: p.clientClosed}
}

// challenges has the value of WWW-Authenticate for each kind of 401 (RFC 9110 section
// 11.6.1). No browser shows a dialog for these schemes. The one for keys is of RFC 6750
// section 3, those for signatures and for sessions (server.go) are not registered.
var challenges = map[code]string{
	invalidKey:       textChallenge,
	invalidSignature: `Webhook-Signature realm="addrspec"`,
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

func unfinishedProblem() *problem {
	return unavailable("The request ran out of time before anything was finished; nothing was charged. Try again shortly.")
}

// decisionProblem returns the problem for a decision of the ledger, or nil if the
// request may continue. required is the number of points that were requested.
func decisionProblem(d ledger.Decision, style *problemStyle, required int64) *problem {
	switch d.Kind {
	case ledger.Good, ledger.Replayed:
		return nil
	case ledger.UnknownKey:
		return invalidKey.with("This API key is not valid: it is unknown, expired or revoked, or its account is suspended.")
	case ledger.WrongOrigin:
		return invalidKey.with("This API key may be used by pages of certain origins only, and the request's Origin header names none of them; use it from such a page, or use a key that is not bound to origins.")
	case ledger.IdempotencyMismatch:
		return idemMismatch.with("This Idempotency-Key was used with another body in the last 24 hours; use a new key for a new batch.")
	case ledger.IdempotencyConflict:
		return idemConflict.with("The first request with this Idempotency-Key is still in progress; wait for its response.")
	case ledger.Insufficient, ledger.Claimed:
		return style.insufficientPoints(d, required)
	}
	return limitProblem(d)
}

// limitProblem returns the 429 for a limit that allows requests again within
// seconds.
func limitProblem(d ledger.Decision) *problem {
	wait := wholeSeconds(d.RetryAfter)
	var message string
	switch d.Kind {
	case ledger.RateLimited:
		message = fmt.Sprintf("Rate limit exceeded: wait %d seconds before the next request.", wait)
	case ledger.Busy:
		message = fmt.Sprintf("Rate limit exceeded: the account has too many requests in progress; wait %d seconds.", wait)
	case ledger.UnpaidWork:
		message = fmt.Sprintf("Rate limit exceeded: too many of the account's requests were abandoned or refused after their work was done; wait %d seconds.", wait)
	case ledger.RecordsFull:
		message = fmt.Sprintf("Rate limit exceeded: the responses stored for the account's Idempotency-Keys use all the space of its plan; wait %d seconds, or send the batch without an Idempotency-Key.", wait)
	default:
		return internalProblem()
	}
	return retryAfter(tooMany.with(message), max(d.RetryAfter, time.Second))
}

func retryAfter(p *problem, d time.Duration) *problem {
	p.retryAfter = d
	return p
}

// insufficientForBatch returns the 402 of a batch.
func insufficientForBatch(d ledger.Decision, required int64) *problem {
	message := "The batch needs %d usage points and %d are left this month."
	if d.Kind == ledger.Claimed {
		message = "The batch needs %d usage points and %d are left this month, without those reserved for requests in progress."
	}
	p := insufficientUsage.with(fmt.Sprintf(message, required, d.Remaining))
	p.extra = extra{Required: &required, Remaining: &d.Remaining}
	return p
}

// insufficientForSingle returns the 429 of a single request. It has a Retry-After
// only if points are reserved for requests in progress: clients would sleep for days
// until the month's refill.
func insufficientForSingle(d ledger.Decision, _ int64) *problem {
	if d.Kind == ledger.Claimed {
		return retryAfter(tooMany.with("Rate limit exceeded: the last of the month's usage points are reserved for requests in progress; wait 1 seconds."), time.Second)
	}
	return tooMany.with(fmt.Sprintf("Rate limit exceeded: the month's usage points are used up; wait %d seconds until they refill, or change the plan.",
		wholeSeconds(d.RetryAfter)))
}

// ledgerProblem returns the problem for an error of the ledger.
func ledgerProblem(err error) *problem {
	switch {
	case errors.Is(err, ledger.ErrUndecided):
		return unavailable("The charge is undecided: the database has not confirmed it in time. With an Idempotency-Key, retry with the same key; without one, the charge is given back.")
	case errors.Is(err, ledger.ErrRecord):
		return internal.with("The ledger cannot record this charge; nothing was charged. Send the request id to support.")
	}
	p := unavailable("The ledger is not available at the moment; nothing was charged. Try again shortly.")
	p.retryAfter += rand.N(maxSpread).Truncate(time.Second)
	return p
}

// maxSpread bounds what is added to the Retry-After of an outage, so that clients do not
// return together.
const maxSpread = 4 * time.Second

// moduleProblem returns the problem of a module call that failed.
func (s *Server) moduleProblem(ctx context.Context, err error) *problem {
	switch {
	case errors.Is(err, host.ErrTooLong):
		return invalidFormat.with(textAddressTooLong)
	case ctx.Err() != nil:
		return unavailable("The request was cancelled before it was finished; nothing was charged.")
	}
	s.logError("module call failed", err)
	return internal.with(textChecksFailed)
}

// sentence makes a clause of the module a sentence: with a capital and a full
// stop.
func sentence(clause string) string {
	first, size := utf8.DecodeRuneInString(clause)
	if size == 0 {
		return textNotValid
	}
	return string(unicode.ToUpper(first)) + clause[size:] + "."
}
