package mx

import (
	"context"
	"errors"
	"time"

	"github.com/addrspec/addrspec/origin/limit"
)

// flight is one lookup shared by any number of callers. If the first of them gets a slot at
// once, it runs. Else it waits in the share of each account that calls, and runs in the first
// slot that one of them gets. Its fields below subject are guarded by Resolver.mu, but for
// outcome once done is closed.
type flight struct {
	subject
	stale   *entry // a result past its TTL, for callers who do not wait any more; may be nil
	began   uint32 // the cache's generation then
	callers int
	seats   map[int64]*seat // of the accounts in whose share it waits
	ctx     context.Context // nil until it runs; ends when the last caller leaves
	cancel  context.CancelFunc
	done    chan struct{} // closed once outcome is set
	outcome entry
}

// seat is the place of a flight in the share of one account.
type seat struct {
	callers int
	ctx     context.Context // ends when the callers have left, or the flight runs
	cancel  context.CancelFunc
	ended   chan struct{} // closed if the wait has ended without a slot
	err     *Error        // why
}

// lookupShared joins the flight of s, or starts it, and waits for its outcome. If a stale
// result exists, a caller gets it after staleWait (RFC 8767 section 5) or when its wait ends
// for another reason.
func (r *Resolver) lookupShared(ctx context.Context, account int64, s subject) (entry, error) {
	f, at, known := r.join(account, s)
	if f == nil {
		return r.serve(known)
	}
	var refused <-chan struct{}
	if at != nil {
		refused = at.ended
	}
	var impatient <-chan time.Time
	if f.stale != nil {
		timer := time.NewTimer(r.config.staleWait)
		defer timer.Stop()
		impatient = timer.C
	}
	var err error
	select {
	case <-f.done:
		return r.serve(f.outcome)
	case <-refused:
		err = at.err
	case <-ctx.Done():
		err = ctx.Err()
	case <-impatient:
	}
	r.leave(f, account, at)
	if f.stale != nil {
		return r.serve(*f.stale)
	}
	return entry{}, err
}

// join adds a caller to the flight of s, which it starts if there is none. The seat is nil if
// the flight runs already. Without a flight the result is known.
func (r *Resolver) join(account int64, s subject) (f *flight, at *seat, known entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f = r.flights[s]
	if f != nil {
		r.counters.shared.Add(1)
	} else {
		// A flight stores its outcome before it ends, so what is not fresh now has none.
		e, fresh := r.cache.get(s)
		if fresh {
			r.counters.hits.Add(1)
			return nil, nil, e
		}
		f = &flight{subject: s, began: r.cache.generation.Load(), done: make(chan struct{})}
		if e.found {
			e.stale = true
			f.stale = &e
		}
		if r.closed {
			return nil, nil, f.stale.or(&Error{Kind: Failure, Reason: Closed})
		}
		r.counters.misses.Add(1)
		r.flights[s] = f
		if r.slots.Take(ended, account, 1) == nil {
			r.begin(f, account)
		}
	}
	f.callers++
	if f.ctx != nil {
		return f, nil, entry{}
	}
	at = f.seats[account]
	if at == nil {
		at = &seat{ended: make(chan struct{})}
		at.ctx, at.cancel = context.WithTimeout(r.ctx, r.config.Timeout)
		if f.seats == nil {
			f.seats = map[int64]*seat{}
		}
		f.seats[account] = at
		r.goroutines.Go(func() { r.wait(f, account, at) })
	}
	at.callers++
	return f, at, entry{}
}

// ended is a context for a take that does not wait.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// leave removes a caller. Nothing waits in the share of an account whose callers have all
// left, and no flight goes on without callers, unless it refreshes a stale result: then its
// outcome is for later callers.
func (r *Resolver) leave(f *flight, account int64, at *seat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.callers--
	if f.stale != nil {
		return
	}
	if at != nil {
		at.callers--
		if at.callers == 0 && f.seats[account] == at {
			at.cancel()
			delete(f.seats, account)
		}
	}
	if f.callers == 0 {
		r.end(f)
	}
}

// end removes a flight, unless a newer one has taken its place. The caller must hold mu.
func (r *Resolver) end(f *flight) {
	if f.cancel != nil {
		f.cancel()
	}
	if r.flights[f.subject] == f {
		delete(r.flights, f.subject)
	}
}

// wait waits for a slot of the account, in which the flight then runs, unless it runs already.
func (r *Resolver) wait(f *flight, account int64, at *seat) {
	defer at.cancel()
	err := r.slots.Take(at.ctx, account, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch here := f.seats[account] == at; {
	case here && err == nil:
		r.begin(f, account)
		return
	case err == nil:
		r.slots.Free(account, 1)
		return
	case !here: // the flight runs in another slot, or the callers have left
		return
	case r.ctx.Err() != nil:
		at.err = &Error{Kind: Failure, Reason: Closed}
	case errors.Is(err, limit.ErrOwner):
		r.counters.refused.Add(1)
		at.err = &Error{Kind: Limited, Reason: AccountLimit}
	case errors.Is(err, limit.ErrAll):
		r.counters.refused.Add(1)
		at.err = &Error{Kind: Limited, Reason: GlobalLimit}
	default:
		r.counters.expired.Add(1)
		at.err = &Error{Kind: Timeout, Reason: NoSlot} // which is not cached: no query was sent
	}
	close(at.ended)
	delete(f.seats, account)
	if len(f.seats) == 0 {
		r.end(f)
	}
}

// begin runs a flight that has a slot of the account. The caller must hold mu.
func (r *Resolver) begin(f *flight, account int64) {
	for _, at := range f.seats {
		at.cancel()
	}
	f.seats = nil
	f.ctx, f.cancel = context.WithCancel(r.ctx)
	r.goroutines.Go(func() {
		defer r.slots.Free(account, 1)
		r.reload(false)
		began := time.Now()
		a, err := r.resolve(f.ctx, inquiry{servers: r.servers.current(), end: began.Add(r.config.Timeout)}, f.subject)
		outcome := r.record(f, a, err, time.Since(began))
		r.mu.Lock()
		defer r.mu.Unlock()
		f.outcome = outcome
		r.end(f)
		close(f.done)
	})
}

// record counts and caches the outcome of a flight. One that was cancelled has none, and an
// error that proves nothing yet is not cached, because the same question will get a reply in
// a moment.
func (r *Resolver) record(f *flight, a result, err *Error, spent time.Duration) entry {
	c := &r.counters
	if err != nil && f.ctx.Err() != nil {
		return f.stale.or(&Error{Kind: Failure, Reason: Closed})
	}
	c.spent.Add(int64(spent))
	switch {
	case err == nil && a.found:
		c.found.Add(1)
	case err == nil:
		c.none.Add(1)
	case err.Kind == Timeout:
		c.timeouts.Add(1)
	default:
		c.failures.Add(1)
	}
	switch {
	case err == nil:
		return r.cache.store(f.subject, a, f.began)
	case err.Reason == Unproven:
		return f.stale.or(err)
	}
	return r.cache.storeFailure(f.subject, err, f.stale)
}

// or returns e, a stale result, or err if there is none.
func (e *entry) or(err *Error) entry {
	if e == nil {
		return entry{err: err}
	}
	return *e
}
