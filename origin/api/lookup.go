package api

import (
	"context"
	"errors"
	"time"

	"github.com/addrspec/addrspec/origin/mx"
)

// A lookup is the outcome of the MX look-up of one domain. The zero value is an
// unfinished one.
type lookup struct {
	finished bool
	mx       bool
	err      error // the look-up timed out or failed
}

// lookUp reports whether domain publishes MX records. The domain of an address
// literal is empty and has none.
func (x *exchange) lookUp(ctx context.Context, domain string) (bool, error) {
	if domain == "" {
		return false, nil
	}
	return x.Resolver.Lookup(ctx, x.request.Account(), domain)
}

// lookUpAll looks the domains up in parallel, until all are known or ctx ends.
// Cached answers are returned without a goroutine. It returns an error if a
// look-up panics or too many look-ups wait.
func (x *exchange) lookUpAll(ctx context.Context, domains []string) (map[string]lookup, error) {
	known := make(map[string]lookup, len(domains))
	results := make(chan lookupResult, len(domains)) // buffered, so that no sender blocks
	asked := 0
	for _, domain := range domains {
		if l, ok := x.cached(domain); ok {
			known[domain] = l
			continue
		}
		asked++
		go func() { results <- x.ask(ctx, domain) }()
	}
	return known, collect(ctx, results, asked, known)
}

// A lookupResult is the result of a look-up in its own goroutine.
type lookupResult struct {
	domain  string
	lookup  lookup
	failure error // fails the whole request
}

// cached returns the look-up of domain if it needs no query.
func (s *Server) cached(domain string) (l lookup, ok bool) {
	if domain == "" {
		return lookup{finished: true}, true
	}
	found, known, err := s.Resolver.Peek(domain)
	return lookup{finished: known, mx: found, err: err}, known
}

// ask looks one domain up and recovers from panics. A look-up that ended because
// of ctx is unfinished, not failed.
func (x *exchange) ask(ctx context.Context, domain string) (a lookupResult) {
	a.domain = domain
	defer func() {
		if cause := recover(); cause != nil {
			a.failure = panicError(cause)
		}
	}()
	found, err := x.lookUp(ctx, domain)
	switch {
	case limited(err):
		a.failure = err
	case err == nil || ctx.Err() == nil:
		a.lookup = lookup{finished: true, mx: found, err: err}
	}
	return a
}

// collect adds the results to known. Results after the end of ctx stay in the
// channel, so a late look-up never modifies an answer that is being sent.
func collect(ctx context.Context, results <-chan lookupResult, asked int, known map[string]lookup) error {
	for range asked {
		select {
		case a := <-results:
			if a.failure != nil {
				return a.failure
			}
			known[a.domain] = a.lookup
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// timedOut reports whether a look-up timed out rather than failed.
func timedOut(err error) bool {
	var failure *mx.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &failure) && failure.Kind == mx.Timeout
}

// limited reports whether a look-up was refused because too many wait. That is a
// problem of the whole request, not of the domain.
func limited(err error) bool {
	var failure *mx.Error
	return errors.As(err, &failure) && failure.Kind == mx.Limited
}

// limitedProblem returns the problem of a request with a refused look-up.
func limitedProblem(err error) *problem {
	var failure *mx.Error
	if errors.As(err, &failure) && failure.Reason == mx.GlobalLimit {
		return unavailable("Too many DNS lookups are waiting; nothing was charged. Try again shortly.")
	}
	return retryAfter(tooMany.with("Rate limit exceeded: the account has too many DNS lookups waiting; wait 1 seconds, and send fewer requests at a time."), time.Second)
}

// lookupProblem returns the problem of a single request whose look-up failed.
func lookupProblem(err error) *problem {
	if limited(err) {
		return limitedProblem(err)
	}
	if timedOut(err) {
		return unavailable("The DNS lookup of the domain timed out, so its MX is not known; nothing was charged. Try again shortly.")
	}
	return unavailable("The DNS lookup of the domain failed, so its MX is not known; nothing was charged. Try again shortly.")
}

// ItemError returns the error of a batch item whose look-up failed. The command
// check has the same one.
func ItemError(err error, domain string) (code, message string) {
	if timedOut(err) {
		return "DNS_TIMEOUT", textTimedOut(domain)
	}
	return "DNS_FAILURE", textLookUpFailed(domain)
}
