package api

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
)

// A lookup is the outcome of the lookup of one domain. The zero value is an unfinished lookup.
type lookup struct {
	finished bool
	found    host.Lookup
	err      error // the lookup timed out or failed
}

// peek returns the lookup of domain if it needs no query. The domain of an address literal is empty; it
// has neither MX nor address record.
func (s *Server) peek(domain string, address bool) (l lookup, known bool) {
	if domain == "" {
		return lookup{finished: true}, true
	}
	peek := s.Resolver.Peek
	if address {
		peek = s.Resolver.PeekAddress
	}
	found, known, err := peek(domain)
	return lookup{known, found.Lookup(), err}, known
}

// query looks up domain with the resolver. A lookup that ended because of ctx is unfinished, not failed.
func (x *exchange) query(ctx context.Context, domain string, address bool) lookup {
	ask := x.Resolver.Lookup
	if address {
		ask = x.Resolver.LookupAddress
	}
	found, err := ask(ctx, x.request.Account(), domain)
	if err != nil && ctx.Err() != nil {
		return lookup{}
	}
	return lookup{true, found.Lookup(), err}
}

// lookUp looks up the MX records of domain and, with address and if mail would go there, whether it has
// an address record.
func (x *exchange) lookUp(ctx context.Context, domain string, address bool) (l lookup, p *wire.Problem) {
	l, known := x.peek(domain, address)
	if known {
		return l, nil
	}
	if p := x.memory.take(ctx, waitMemory); p != nil {
		return l, p
	}
	return x.query(ctx, domain, address), nil
}

// lookUpAll looks up the domains in parallel, until all are known or ctx ends. A domain may occur more
// than once. The problem is that of the whole request: there is no memory, or too many lookups wait.
func (x *exchange) lookUpAll(ctx context.Context, domains []string, address bool) (map[string]lookup, *wire.Problem) {
	lookups := make(map[string]lookup, len(domains))
	var missing []string
	for _, domain := range domains {
		if _, again := lookups[domain]; again {
			continue
		}
		l, known := x.peek(domain, address)
		lookups[domain] = l
		if !known {
			missing = append(missing, domain)
		}
	}
	if len(missing) == 0 {
		return lookups, nil
	}
	if p := x.memory.take(ctx, waitMemory+len(missing)*lookupMemory); p != nil {
		if ctx.Err() != nil {
			return lookups, nil // they are unfinished
		}
		return nil, p
	}
	found := make([]lookup, len(missing))
	group, ctx := errgroup.WithContext(ctx)
	for n, domain := range missing {
		group.Go(func() (err error) {
			defer func() {
				if cause := recover(); cause != nil {
					err = fmt.Errorf("panic of type %T", cause) // its value may contain input
				}
			}()
			found[n] = x.query(ctx, domain, address)
			if limited(found[n].err) {
				return found[n].err // which ends the other lookups
			}
			return nil
		})
	}
	switch err := group.Wait(); { // each ends with ctx
	case limited(err):
		return nil, lookupProblem(err)
	case err != nil:
		x.logError("a lookup failed", err)
		return nil, wire.Defect()
	}
	for n, domain := range missing {
		lookups[domain] = found[n]
	}
	return lookups, nil
}

// limited reports whether a lookup was refused because too many wait. That is a problem of the whole
// request, not of the domain.
func limited(err error) bool {
	failure, ok := errors.AsType[*mx.Error](err)
	return ok && failure.Kind == mx.Limited
}
