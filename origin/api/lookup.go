package api

import (
	"context"
	"errors"
	"time"

	"github.com/addrspec/addrspec/origin/mx"
)

// A lookup is what became of the MX look-up of one domain; the zero value is
// not finished.
type lookup struct {
	finished bool
	mx       bool
	err      error // the look-up timed out or failed
}

// lookUp asks for the MX of one domain. There is none to ask for an address
// literal, whose domain is empty.
func (x *exchange) lookUp(ctx context.Context, domain string) (bool, error) {
	if domain == "" {
		return false, nil
	}
	return x.Resolver.Lookup(ctx, x.request.Account(), domain)
}

// lookUpAll asks for the MX of the domains side by side, until all are known or
// ctx ends. Those that the cache knows are answered in this goroutine. An error
// is a panic in a look-up, or that the account has too many look-ups waiting.
func (x *exchange) lookUpAll(ctx context.Context, domains []string) (map[string]lookup, error) {
	known := make(map[string]lookup, len(domains))
	answers := make(chan lookupResult, len(domains)) // has room for all: nobody waits to send
	asked := 0
	for _, domain := range domains {
		if l, ok := x.cached(domain); ok {
			known[domain] = l
			continue
		}
		asked++
		go func() { answers <- x.ask(ctx, domain) }()
	}
	return known, collect(ctx, answers, asked, known)
}

// An answer is a look-up in a goroutine of its own.
type lookupResult struct {
	domain  string
	lookup  lookup
	failure error // fails the whole request
}

// cached is what can be said without asking.
func (s *Server) cached(domain string) (l lookup, ok bool) {
	if domain == "" {
		return lookup{finished: true}, true
	}
	found, known, err := s.Resolver.Peek(domain)
	return lookup{finished: known, mx: found, err: err}, known
}

// ask does one look-up. One that ended with ctx is not finished, rather than
// failed.
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

// collect moves the answers into known. What comes after ctx has ended stays in
// the channel, so a late look-up never touches an answer that is being sent.
func collect(ctx context.Context, answers <-chan lookupResult, asked int, known map[string]lookup) error {
	for range asked {
		select {
		case a := <-answers:
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

// timedOut reports which of the two ways a look-up failed.
func timedOut(err error) bool {
	var failure *mx.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &failure) && failure.Kind == mx.Timeout
}

// limited reports whether the look-up was refused because too many wait, which
// says nothing about the domain: it is a problem of the whole request.
func limited(err error) bool {
	var refusal *mx.Error
	return errors.As(err, &refusal) && refusal.Kind == mx.Limited
}

// limitedProblem is the problem of a request with a look-up that was refused.
func limitedProblem(err error) *problem {
	var refusal *mx.Error
	if errors.As(err, &refusal) && refusal.Reason == mx.GlobalLimit {
		return unavailable("As many DNS lookups wait as the service allows; nothing was charged. Try again shortly.")
	}
	return retryAfter(tooMany.with("Rate limit exceeded: the account has as many DNS lookups waiting as it may; wait 1 seconds, and send fewer requests at a time."), time.Second)
}

// lookupProblem is the answer of a single request whose look-up failed.
func lookupProblem(err error) *problem {
	if limited(err) {
		return limitedProblem(err)
	}
	if timedOut(err) {
		return unavailable("The DNS lookup of the domain timed out, so its MX is not known; nothing was charged. Try again shortly.")
	}
	return unavailable("The DNS lookup of the domain failed, so its MX is not known; nothing was charged. Try again shortly.")
}

// itemError is the error of a batch item whose look-up failed.
func itemError(err error, domain string) (code, message string) {
	if timedOut(err) {
		return "DNS_TIMEOUT", textTimedOut(domain)
	}
	return "DNS_FAILURE", textLookUpFailed(domain)
}
