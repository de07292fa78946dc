package check

import (
	"context"
	"sync"

	"github.com/addrspec/addrspec/origin/mx"
)

// Lookups looks up MX records for one run. It is safe for concurrent use: together
// its callers have at most a fixed number of look-ups under way, and one for each
// domain.
type Lookups struct {
	resolver *mx.Resolver
	slots    chan struct{}
	outage   *outage
}

// NewLookups returns Lookups with at most workers look-ups at a time.
func NewLookups(resolver *mx.Resolver, workers int) *Lookups {
	return &Lookups{resolver: resolver, slots: make(chan struct{}, workers), outage: &outage{resolver: resolver}}
}

// A lookup is the outcome of one look-up. The zero value is that of an address
// literal: no MX.
type lookup struct {
	mx  bool
	err error
}

// All looks the domains up. It returns once all are known. Its error is that of ctx,
// or ErrOutage.
func (l *Lookups) All(ctx context.Context, domains []string) (map[string]lookup, error) {
	var mu sync.Mutex
	found := make(map[string]lookup, len(domains))
	var group sync.WaitGroup
	defer group.Wait()
	for _, domain := range domains {
		if answer, known, err := l.resolver.Peek(domain); known {
			mu.Lock()
			found[domain] = lookup{answer, err}
			mu.Unlock()
			continue
		}
		select {
		case l.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if err := l.outage.err(); err != nil {
			<-l.slots
			return nil, err
		}
		group.Go(func() {
			answer, err := l.resolver.Lookup(ctx, 0, domain)
			l.outage.note(ctx, err)
			<-l.slots
			mu.Lock()
			defer mu.Unlock()
			found[domain] = lookup{answer, err}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return found, l.outage.err()
}
