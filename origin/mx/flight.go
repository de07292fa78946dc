package mx

import (
	"context"
	"time"
)

// flight is one look-up that any number of callers wait for. It first waits for
// a slot, in the queues of the accounts that want it, and then asks. The fields
// below name are guarded by flights.mu until done is closed.
type flight struct {
	name    string
	stale   *entry             // for callers that lose patience; nil: none
	waiters []*waiter          // where it waits for a slot
	owner   *accountQueue      // the account whose slot it has; nil while it waits
	cancel  context.CancelFunc // ends the look-up
	started time.Time          // when it began to ask
	callers int
	done    chan struct{} // closed once outcome is set
	outcome entry
}

// placeIn returns the flight's place in q, or nil.
func (f *flight) waiterIn(q *accountQueue) *waiter {
	for _, p := range f.waiters {
		if p.queue == q {
			return p
		}
	}
	return nil
}

// share waits for the flight of name with all other callers. A caller that has
// waited long enough gets a stale answer (RFC 8767 section 5), and so does one
// whose wait ends in another way.
func (r *Resolver) lookUpShared(ctx context.Context, account int64, name string) (bool, error) {
	f, p, known := r.join(account, name)
	if f == nil {
		return r.serve(known)
	}
	err := r.await(ctx, f, p)
	if err == nil {
		return r.serve(f.outcome)
	}
	r.flights.leave(f, p)
	if f.stale != nil {
		return r.serve(*f.stale)
	}
	return false, err
}

// await returns nil once the flight has landed, and otherwise why the caller
// waits no longer.
func (r *Resolver) await(ctx context.Context, f *flight, p *waiter) error {
	var patience <-chan time.Time
	if f.stale != nil {
		timer := time.NewTimer(r.staleWait)
		defer timer.Stop()
		patience = timer.C
	}
	select {
	case <-f.done:
		return nil
	case <-p.done():
		return p.err
	case <-patience:
		return errStaleWait
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errPatience is not seen by callers: they get the stale answer.
var errStaleWait = &Error{Kind: Timeout, Reason: NoAnswer}

// join joins the flight of name or starts one; the place is nil if the flight
// asks already. The flight is nil if the cache is fresh or no look-up may
// start; then known is the answer.
func (r *Resolver) join(account int64, name string) (f *flight, p *waiter, known entry) {
	fs := &r.flights
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f = fs.byName[name]
	if f != nil && f.owner != nil {
		f.callers++
		r.counters.shared.Add(1)
		return f, nil, entry{}
	}
	if f == nil {
		if f, known = r.newFlight(name); f == nil {
			return nil, nil, known
		}
	}
	p, err := r.enter(account, f)
	if err != nil {
		return nil, nil, f.fallback(err)
	}
	return f, p, entry{}
}

// newFlight returns a flight, or what the cache knows if that is fresh. A flight
// stores its outcome before it leaves the map, so what is not fresh here is
// being asked by no flight.
func (r *Resolver) newFlight(name string) (*flight, entry) {
	known, fresh, stale := r.cache.get(name)
	if fresh {
		r.counters.hits.Add(1)
		return nil, known
	}
	f := &flight{name: name, cancel: func() {}, done: make(chan struct{})}
	if stale {
		f.stale = &known
	}
	return f, entry{}
}

// enter adds a caller of the account to a flight that does not ask yet; mu is
// held.
func (r *Resolver) enter(account int64, f *flight) (*waiter, *Error) {
	fs := &r.flights
	if fs.closed {
		return nil, &Error{Kind: Failure, Reason: Closed}
	}
	p, err := fs.queue.enqueue(account, f)
	if err != nil {
		r.counters.refused.Add(1)
		return nil, err
	}
	r.counters.countMiss(fs.byName[f.name] == nil)
	f.callers++
	p.callers++
	fs.byName[f.name] = f
	r.startNext()
	if p.element != nil && p.timer == nil {
		p.timer = time.AfterFunc(r.timeout, func() { r.expire(p) })
	}
	return p, nil
}

// instead is what a caller gets in place of a look-up that err prevents.
func (f *flight) fallback(err *Error) entry {
	if f.stale != nil {
		return *f.stale
	}
	return entry{err: err}
}

// launch starts the flights whose turn it is; mu is held.
func (r *Resolver) startNext() {
	for f := r.flights.queue.next(); f != nil; f = r.flights.queue.next() {
		ctx, cancel := context.WithTimeout(r.ctx, r.timeout)
		f.cancel, f.started = cancel, time.Now()
		r.goroutines.Go(func() { r.run(ctx, f) })
	}
}

// expire ends a wait that has taken as long as a look-up may. It was not asked
// about the domain, so nothing is known of it.
func (r *Resolver) expire(p *waiter) {
	fs := &r.flights
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if p.element == nil {
		return // its turn came meanwhile, or its callers left
	}
	r.counters.expired.Add(1)
	fs.endWait(p, &Error{Kind: Timeout, Reason: NoSlot})
}

// run looks the domain up and lands the flight.
func (r *Resolver) run(ctx context.Context, f *flight) {
	defer f.cancel()
	a, err := r.lookUpMX(ctx, f.name)
	f.outcome = r.record(ctx, f, a, err)
	r.finish(f)
	close(f.done)
}

// land removes the flight and gives its slot to the next one.
func (r *Resolver) finish(f *flight) {
	fs := &r.flights
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.remove(f)
	fs.queue.release(f)
	r.startNext()
}

// settle counts and keeps what was found out. A flight that was called off
// found out nothing.
func (r *Resolver) record(ctx context.Context, f *flight, a answer, err *Error) entry {
	switch {
	case err == nil:
		r.counters.countOutcome(a.mx, 0, time.Since(f.started))
		return r.cache.store(f.name, a)
	case ctx.Err() == context.Canceled:
		return entry{err: &Error{Kind: Failure, Reason: Closed}}
	}
	r.counters.countOutcome(false, err.Kind, time.Since(f.started))
	return r.cache.storeFailure(f.name, err, f.stale)
}
