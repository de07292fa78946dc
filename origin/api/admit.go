package api

import (
	"context"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// How long the ledger's two steps may take, also where its database hangs and
// others wait before them: a caller is better told within a second. What an
// admission that came too late was charged, and what a settlement that came
// too late would have given back, the ledger gives back by itself.
const (
	admitTimeout  = time.Second
	settleTimeout = time.Second
)

// admit asks the ledger for the key, the token and the points. The refusal is
// the answer to send; usage headers go with it where the key is known.
func (s *Server) admit(ctx context.Context, request ledger.Request) (ledger.Admission, *response) {
	ctx, cancel := context.WithTimeout(ctx, admitTimeout)
	defer cancel()
	admission, err := s.Ledger.Admit(ctx, request)
	if err != nil {
		s.logFault("admission failed", err)
		refusal := unavailable("The ledger cannot be reached at the moment; nothing was charged. Try again shortly.").response()
		return admission, &refusal
	}
	if f := refused(admission, request.Points); f != nil {
		refusal := f.response()
		if admission.Verdict != ledger.UnknownKey {
			refusal.usage = &admission.Usage
		}
		return admission, &refusal
	}
	return admission, nil
}

// refused is the fault of a verdict that ends the request; nil for the others.
func refused(a ledger.Admission, required int64) *fault {
	switch a.Verdict {
	case ledger.UnknownKey:
		return invalidKey.with("This API key is not known or was revoked.")
	case ledger.RateLimited:
		f := tooMany.with(fmt.Sprintf("Rate limit exceeded; wait %d s before the next request.", wholeSeconds(a.RetryAfter)))
		f.retryAfter = a.RetryAfter
		return f
	case ledger.Insufficient:
		f := insufficientUsage.with(fmt.Sprintf("The batch needs %d usage points and %d are left this month.", required, a.Remaining))
		f.detail = detail{Required: &required, Remaining: &a.Remaining}
		return f
	case ledger.IdempotencyConflict:
		return idemConflict.with("A request with this Idempotency-Key is still under way; wait for its answer.")
	case ledger.IdempotencyMismatch:
		return idemMismatch.with("This Idempotency-Key was used with another body in the last 24 hours; take a new key for a new batch.")
	}
	return nil
}

// settle ends an admission, whether or not the client still waits: what was not
// done must be given back all the same.
func (s *Server) settle(ctx context.Context, a ledger.Admission, settlement ledger.Settlement) (ledger.Usage, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	usage, err := s.Ledger.Settle(ctx, a, settlement)
	if err != nil {
		s.logFault("settlement failed", err)
	}
	return usage, err
}
