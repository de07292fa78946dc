package api

import (
	"errors"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// verdictProblem returns the problem for a verdict of the ledger, or nil if the
// request may continue. required is the number of points that were requested.
func verdictProblem(d ledger.Decision, style *problemStyle, required int64) *problem {
	switch d.Verdict {
	case ledger.Good, ledger.Replayed:
		return nil
	case ledger.UnknownKey:
		return invalidKey.with("This API key is not valid: it is unknown, expired or revoked, or its account is suspended.")
	case ledger.WrongOrigin:
		return invalidKey.with("This API key may be used by pages of certain origins only, and the request's Origin header names none of them; use it from such a page, or use a key that is not bound to origins.")
	case ledger.IdempotencyMismatch:
		return idemMismatch.with("This Idempotency-Key was used with another body in the last 24 hours; use a new key for a new batch.")
	case ledger.IdempotencyConflict:
		return idemConflict.with("The first request with this Idempotency-Key is still under way; wait for its answer.")
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
	switch d.Verdict {
	case ledger.RateLimited:
		message = fmt.Sprintf("Rate limit exceeded: wait %d seconds before the next request.", wait)
	case ledger.Busy:
		message = fmt.Sprintf("Rate limit exceeded: the account has too many requests under way; wait %d seconds.", wait)
	case ledger.UnpaidWork:
		message = fmt.Sprintf("Rate limit exceeded: too many of the account's requests were abandoned or refused after their work was done; wait %d seconds.", wait)
	case ledger.RecordsFull:
		message = fmt.Sprintf("Rate limit exceeded: the answers stored for the account's Idempotency-Keys use all the space of its plan; wait %d seconds, or send the batch without an Idempotency-Key.", wait)
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
	if d.Verdict == ledger.Claimed {
		message = "The batch needs %d usage points and %d are left this month, without those reserved for requests under way."
	}
	p := insufficientUsage.with(fmt.Sprintf(message, required, d.Remaining))
	p.extra = extra{Required: &required, Remaining: &d.Remaining}
	return p
}

// insufficientForSingle returns the 429 of a single request. It has a Retry-After
// only if points are reserved for requests under way: clients would sleep for days
// until the month's refill.
func insufficientForSingle(d ledger.Decision, _ int64) *problem {
	if d.Verdict == ledger.Claimed {
		return retryAfter(tooMany.with("Rate limit exceeded: the last of the month's usage points are reserved for requests under way; wait 1 seconds."), time.Second)
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
	return unavailable("The ledger is not available at the moment; nothing was charged. Try again shortly.")
}
