package api

import (
	"context"

	"github.com/addrspec/addrspec/origin/ledger"
)

// Ledger checks keys, rates and points. [FromLedger] adapts a *ledger.Ledger.
type Ledger interface {
	// Begin checks the key, its browser origins and the rate. With the verdict
	// Good it returns a Request, whose End must be called.
	Begin(ctx context.Context, secret, origin string) (Request, ledger.Decision, error)
	// Ready returns an error if requests cannot be charged at the moment.
	Ready(ctx context.Context) error
}

// Request is a request under way. ledger.Request documents the methods.
type Request interface {
	Account() int64
	Context() context.Context
	Late() (refusal ledger.Decision, refused bool)
	Inspect() (ledger.Decision, error)
	Claim(price int64, once *ledger.Idempotency) (ledger.Decision, error)
	WorkRefused()
	Charge(ledger.Charge) (ledger.Decision, error)
	End()
}

// FromLedger returns l as a Ledger.
func FromLedger(l *ledger.Ledger) Ledger { return adapter{l} }

type adapter struct{ *ledger.Ledger }

// Begin returns a nil interface for a nil request, not one with a nil pointer.
func (a adapter) Begin(ctx context.Context, secret, origin string) (Request, ledger.Decision, error) {
	request, decision, err := a.Ledger.Begin(ctx, secret, origin)
	if request == nil {
		return nil, decision, err
	}
	return request, decision, err
}
