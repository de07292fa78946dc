package mx

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// What is known of a server's honesty.
const (
	unverified int32 = iota // Verify has not asked it yet
	undecided               // it has neither denied all names nor confirmed one, such as by silence
	honest                  // it has confirmed one
	lying                   // it has denied all
)

// count returns how many servers have a verdict.
func count(servers []*server, verdict int32) (n int) {
	for _, s := range servers {
		if s.verdict.Load() == verdict {
			n++
		}
	}
	return n
}

// Verify asks each server for the domains of Config.WithMX, past the cache. lies has an
// error for each server that denies them all: it does not resolve the Internet, or it
// censors. open has one for each that neither denies all nor confirms one, such as by
// silence, which is no lie; its earlier verdict remains.
func (r *Resolver) Verify(ctx context.Context) (lies, open error) {
	servers := r.servers.current()
	if len(r.config.WithMX) == 0 {
		return nil, nil
	}
	found := make([]*Error, len(servers))
	var group sync.WaitGroup
	for n, s := range servers {
		group.Go(func() { found[n] = r.verifyServer(ctx, s) })
	}
	group.Wait()
	for _, err := range found {
		switch {
		case err == nil:
		case err.Reason == Lying:
			lies = errors.Join(lies, err)
		default:
			open = errors.Join(open, err)
		}
	}
	return lies, open
}

// verifyServer asks one server, which it believes whatever its verdict was, so that a server
// can recover. It keeps the new verdict.
func (r *Resolver) verifyServer(ctx context.Context, s *server) *Error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	asked := inquiry{servers: []*server{s}, end: time.Now().Add(r.config.Timeout), trust: true}
	type reply struct {
		found bool
		err   *Error
	}
	replies := make(chan reply, len(r.config.WithMX))
	for _, domain := range r.config.WithMX {
		go func() {
			name, _ := canonicalName(domain) // New has checked it
			a, err := r.resolve(ctx, asked, subject{name, mxRecords})
			replies <- reply{a.found, err}
		}()
	}
	var found bool
	var failure *Error
	for range r.config.WithMX {
		got := <-replies
		if got.found {
			found = true
			cancel() // one is enough
		}
		if failure == nil || failure.Kind == Timeout && got.err != nil {
			failure = got.err
		}
	}
	switch {
	case found:
		s.verdict.Store(honest)
		return nil
	case failure != nil:
		s.verdict.CompareAndSwap(unverified, undecided)
		return failure
	}
	// The cache forgets what it may have said before: a lookup that began earlier has the old
	// generation, one that begins later sees the verdict.
	if s.verdict.Swap(lying) != lying && r.strict() {
		r.cache.generation.Add(1)
	}
	return &Error{Kind: Failure, Reason: Lying, Server: s.address}
}

func (r *Resolver) strict() bool { return r.config.Strict && len(r.config.WithMX) > 0 }

// doubt returns an error if the reply of a server must not be believed; see Config.Strict.
func (r *Resolver) doubt(s *server, a result) *Error {
	if !r.strict() {
		return nil
	}
	switch verdict := s.verdict.Load(); {
	case verdict == lying:
		return &Error{Kind: Failure, Reason: Lying}
	case verdict == unverified && !a.found && a.target == "":
		return &Error{Kind: Failure, Reason: Unproven}
	}
	return nil
}

// Distrusted reports whether lookups fail because of Config.Strict: a server lies, and
// none is known to be honest.
func (r *Resolver) Distrusted() bool {
	servers := r.servers.current()
	return r.strict() && count(servers, lying) > 0 && count(servers, honest) == 0
}

const probeTimeout = 2 * time.Second

// Probe asks all servers for the NS records of the root. It returns nil if one of them
// replies, with any RCODE, and otherwise the errors of all.
func (r *Resolver) Probe(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	servers, end := r.servers.current(), time.Now().Add(probeTimeout)
	errs := make([]error, len(servers))
	var group sync.WaitGroup
	for n, s := range servers {
		group.Go(func() {
			_, err := r.ask(ctx, inquiry{servers: []*server{s}, end: end, any: true}, ".", dns.TypeNS)
			if err != nil {
				errs[n] = err
				return
			}
			cancel() // one is enough
		})
	}
	group.Wait()
	if slices.Contains(errs, nil) {
		return nil
	}
	return errors.Join(errs...)
}
