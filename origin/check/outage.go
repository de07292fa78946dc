package check

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/addrspec/addrspec/origin/mx"
)

// mostSilent is how many look-ups in a row may go without an answer before the
// resolvers are asked for the root. Lists have dead domains in a row, so silence
// about them proves nothing.
const mostSilent = 100

// ErrOutage is the error of a run whose resolvers no longer answer. The run ends,
// since every further record would only get an error, after the longest time.
var ErrOutage = errors.New("the resolvers no longer answer, so MX records cannot be looked up; give others with --dns HOST:PORT, or leave MX out with --offline")

// An outage finds out that no resolver answers any more.
type outage struct {
	resolver *mx.Resolver

	mu     sync.Mutex
	silent int   // look-ups since the last answer
	ended  error // why there can be no further look-up; stays
}

// note takes the error of a look-up, or nil. An error of the domain, such as
// SERVFAIL, is an answer.
func (o *outage) note(ctx context.Context, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !unanswered(err) {
		o.silent = 0
		return
	}
	if o.silent++; o.silent < mostSilent || o.ended != nil || ctx.Err() != nil {
		return
	}
	o.silent = 0
	if err := o.resolver.Probe(ctx); err != nil && ctx.Err() == nil {
		o.ended = fmt.Errorf("%w: %w", ErrOutage, err)
	}
}

// err returns why there can be no further look-up, or nil.
func (o *outage) err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

// unanswered reports whether no resolver answered a look-up.
func unanswered(err error) bool {
	failure, ok := errors.AsType[*mx.Error](err)
	return ok && (failure.Reason == mx.NoAnswer || failure.Reason == mx.Unreachable)
}
