package api

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/limit"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/words"
	"github.com/addrspec/addrspec/wasm/host"
)

// Problems of the parts that an operation uses: ledger, resolver, module.

const textCancelled = "The request was cancelled before it was finished; nothing was charged."

// decisionProblem returns the problem for a decision of the ledger that refuses the request. required is the number of points that an operation with the shape requested.
func decisionProblem(d ledger.Decision, shape wire.Shape, required int64) *wire.Problem {
	switch d.Kind {
	case ledger.UnknownKey:
		return wire.InvalidKey.With("This API key is not valid: it is unknown, expired or revoked, or its account " +
			"is suspended.")
	case ledger.WrongOrigin:
		return wire.InvalidKey.With("This API key may be used by pages of certain origins only, and the request's " +
			"Origin header names none of them; use it from such a page, or use a key that is not bound to origins.")
	case ledger.IdempotencyMismatch:
		return wire.IdemMismatch.With("This Idempotency-Key was used with another body in the last 24 hours; " +
			"use a new key for a new batch.")
	case ledger.IdempotencyConflict:
		return wire.IdemConflict.With("The first request with this Idempotency-Key is still in progress; " +
			"wait for its response.")
	case ledger.RateLimited:
		return wire.Limited("wait %s before the next request.", d.RetryAfter)
	case ledger.Busy:
		return wire.Limited("the account has too many requests in progress; wait %s.", d.RetryAfter)
	case ledger.UnpaidWork:
		return wire.Limited("too many of the account's requests were abandoned or refused after their work was done; "+
			"wait %s.", d.RetryAfter)
	case ledger.RecordsFull:
		return wire.Limited("the responses stored for the account's Idempotency-Keys use all the space of its plan; "+
			"wait %s, or send the batch without an Idempotency-Key.", d.RetryAfter)
	case ledger.Insufficient, ledger.Claimed:
		return pointsProblem(d, shape, required)
	}
	return wire.Defect()
}

// pointsProblem returns the 402 of a batch or the 429 of a single request that needs more points than
// are left. A single request has a Retry-After only if the points are reserved for requests in progress,
// because clients would sleep for days until the month's refill.
func pointsProblem(d ledger.Decision, shape wire.Shape, required int64) *wire.Problem {
	reserved := d.Kind == ledger.Claimed
	switch {
	case shape == wire.Enveloped:
		message := "The batch needs %d usage points and %d are left this month."
		if reserved {
			message = "The batch needs %d usage points and %d are left this month, without those reserved for " +
				"requests in progress."
		}
		p := wire.InsufficientUsage.With(fmt.Sprintf(message, required, d.Remaining))
		p.Extra = wire.Extra{Required: &required, Remaining: &d.Remaining}
		return p
	case reserved:
		return wire.Limited("the last of the month's usage points are reserved for requests in progress; "+
			"wait %s.", time.Second)
	}
	refill := time.Now().Add(d.RetryAfter).Round(24 * time.Hour) // midnight UTC, also if the database's clock differs
	p := wire.Limited("the month's usage points are used up until "+words.Time(refill)+"; wait %s, or change the plan.",
		d.RetryAfter)
	p.RetryAfter = 0
	return p
}

// maxSpread bounds what is added to the Retry-After of an outage, so that clients do not return together.
const maxSpread = 4 * time.Second

// ledgerProblem returns the problem for an error of the ledger.
func ledgerProblem(err error) *wire.Problem {
	switch {
	case errors.Is(err, ledger.ErrUndecided):
		return wire.Unavailable("The charge is undecided: the database has not confirmed it in time. " +
			"With an Idempotency-Key, retry with the same key; without one, the charge is given back.")
	case errors.Is(err, ledger.ErrRecord):
		return wire.Internal.With("The ledger cannot record this charge; nothing was charged. " +
			"Send the request id to support.")
	}
	p := wire.Unavailable("The ledger is not available at the moment; nothing was charged. Try again shortly.")
	p.RetryAfter += rand.N(maxSpread).Truncate(time.Second)
	return p
}

// moduleProblem returns the problem of a module call that failed.
func (s *Server) moduleProblem(ctx context.Context, err error) *wire.Problem {
	switch {
	case errors.Is(err, host.ErrTooLong):
		return wire.InvalidFormat.With(wire.TextAddressTooLong)
	case ctx.Err() != nil:
		return wire.Unavailable(textCancelled)
	case errors.Is(err, limit.ErrOwner), errors.Is(err, context.DeadlineExceeded):
		return wire.Limited("requests with policies take turns, and too many wait; wait %s.", time.Second)
	case errors.Is(err, limit.ErrAll):
		return wire.Unavailable("Too many requests with policies are waiting; nothing was charged. Try again shortly.")
	}
	s.logError("module call failed", err)
	return wire.Internal.With(wire.TextChecksFailed)
}

// sentence makes a clause of the module a sentence: with a capital and a full stop.
func sentence(clause string) string {
	first, size := utf8.DecodeRuneInString(clause)
	if size == 0 {
		return wire.TextNotValid
	}
	return string(unicode.ToUpper(first)) + clause[size:] + "."
}

// lookupProblem returns the problem of a request whose lookup failed: the only one of a single request,
// or one that was refused because too many lookups wait.
func lookupProblem(err error) *wire.Problem {
	failure, _ := errors.AsType[*mx.Error](err)
	switch {
	case failure != nil && failure.Kind == mx.Limited && failure.Reason == mx.GlobalLimit:
		return wire.Unavailable("Too many DNS lookups are waiting; nothing was charged. Try again shortly.")
	case failure != nil && failure.Kind == mx.Limited:
		return wire.Limited("the account has too many DNS lookups waiting; wait %s, and send fewer requests "+
			"at a time.", time.Second)
	case mx.IsTimeout(err):
		return wire.Unavailable("The DNS lookup of the domain timed out, so its MX is not known; nothing was charged. " +
			"Try again shortly.")
	}
	return wire.Unavailable("The DNS lookup of the domain failed, so its MX is not known; nothing was charged. " +
		"Try again shortly.")
}
