package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
)

// Lookups looks up MX records for one run. It is safe for concurrent use: together
// its callers have at most a fixed number of lookups in flight, and one for each
// domain.
type Lookups struct {
	resolver *mx.Resolver
	slots    chan struct{} // lookups in flight
	outage   *outage
}

// oneRun is how long results and failures count, whatever their TTL: longer than most
// runs, so that each domain is looked up once. A failed one is not tried again, which
// would take the longest time for every part of the list that has it.
const oneRun = 24 * time.Hour

// ResolverConfig returns the settings of a resolver for one run. The limits of an
// account are those of all, since there is one user.
func ResolverConfig(servers []string, timeout time.Duration, workers int) mx.Config {
	return mx.Config{Servers: servers, Timeout: timeout, Concurrency: workers, AccountConcurrency: workers,
		MinTTL: oneRun, MaxTTL: oneRun, MaxNegativeTTL: oneRun, FailureTTL: oneRun}
}

// NewLookups returns Lookups with at most workers lookups at a time.
func NewLookups(resolver *mx.Resolver, workers int) *Lookups {
	return &Lookups{resolver: resolver, slots: make(chan struct{}, workers), outage: &outage{resolver: resolver}}
}

// A lookup is what was found for one domain. The zero value is that of an address
// literal: no MX.
type lookup struct {
	found host.Lookup
	err   error
}

// all looks the domains up, for details with the address records to which their mail goes.
// It returns once all are known. Its error is that of ctx, or ErrOutage.
func (l *Lookups) all(ctx context.Context, turn turn, domains []string, details bool) (map[string]lookup, error) {
	found := outcomes{byDomain: make(map[string]lookup, len(domains))}
	var group sync.WaitGroup
	err := l.begin(ctx, turn, l.unknown(domains, details, &found), func(domain string) {
		group.Go(func() { found.add(domain, l.ask(ctx, domain, details)) })
	})
	group.Wait()
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return found.byDomain, l.outage.err()
}

// unknown adds the domains that need no lookup to found, and returns the others.
func (l *Lookups) unknown(domains []string, details bool, found *outcomes) (rest []string) {
	peek := l.resolver.Peek
	if details {
		peek = l.resolver.PeekAddress
	}
	for _, domain := range domains {
		if r, known, err := peek(domain); known {
			found.add(domain, lookup{r.Lookup(), err})
		} else {
			rest = append(rest, domain)
		}
	}
	return rest
}

// begin calls start for each domain in its turn, with a slot that ask frees.
func (l *Lookups) begin(ctx context.Context, turn turn, domains []string, start func(domain string)) error {
	if err := turn.wait(ctx); err != nil {
		return err
	}
	defer turn.pass()
	for _, domain := range domains {
		if err := l.outage.err(); err != nil {
			return err
		}
		select {
		case l.slots <- struct{}{}:
			start(domain)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (l *Lookups) ask(ctx context.Context, domain string, details bool) lookup {
	defer func() { <-l.slots }()
	lookUp := l.resolver.Lookup
	if details {
		lookUp = l.resolver.LookupAddress
	}
	found, err := lookUp(ctx, 0, domain)
	l.outage.note(ctx, err)
	return lookup{found.Lookup(), err}
}

// outcomes are lookups that several goroutines add to.
type outcomes struct {
	mu       sync.Mutex
	byDomain map[string]lookup
}

func (o *outcomes) add(domain string, l lookup) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byDomain[domain] = l
}

// mostSilent is how many lookups in a row may get no reply before the
// resolvers are asked for the root. Lists have dead domains in a row, so silence
// about them proves nothing.
const mostSilent = 100

// ErrOutage is the error of a run whose resolvers no longer reply. The run ends,
// since every further record would only get an error, after the longest time.
var ErrOutage = errors.New("the resolvers no longer respond, so MX records cannot be looked up; give others with --dns HOST:PORT, or leave MX out with --offline")

// An outage finds out that no resolver replies any more.
type outage struct {
	resolver *mx.Resolver

	mu     sync.Mutex
	silent int   // lookups since the last reply
	ended  error // why there can be no further lookup; stays
}

// note takes the error of a lookup, or nil. An error of the domain, such as
// SERVFAIL, is a reply.
func (o *outage) note(ctx context.Context, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !isSilence(err) {
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

// err returns why there can be no further lookup, or nil.
func (o *outage) err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

// isSilence reports whether no resolver replied to a lookup.
func isSilence(err error) bool {
	failure, ok := errors.AsType[*mx.Error](err)
	return ok && (failure.Reason == mx.NoReply || failure.Reason == mx.Unreachable)
}
