package mx

import (
	"context"
	"time"
)

// flight is one look-up shared by any number of callers. It waits for a slot in
// the queues of the accounts that requested it, then runs. The fields below name
// are guarded by flights.mu until done is closed.
type flight struct {
	name    string
	stale   *entry             // served to callers after staleWait; may be nil
	waiters []*waiter          // its queue entries while it waits for a slot
	owner   *accountQueue      // the account whose slot it uses; nil while it waits
	cancel  context.CancelFunc // ends the look-up
	started time.Time          // when it got its slot
	callers int
	done    chan struct{} // closed once outcome is set
	outcome entry
}

// waiterIn returns the flight's entry in q, or nil.
func (f *flight) waiterIn(q *accountQueue) *waiter {
	for _, w := range f.waiters {
		if w.queue == q {
			return w
		}
	}
	return nil
}

// lookUpShared joins the flight of name, or starts it, and waits for its
// outcome. If a stale answer exists, a caller gets it after staleWait (RFC 8767
// section 5) or when its wait ends for another reason.
func (r *Resolver) lookUpShared(ctx context.Context, account int64, name string) (bool, error) {
	f, w, known := r.join(account, name)
	if f == nil {
		return r.serve(known)
	}
	err := r.await(ctx, f, w)
	if err == nil {
		return r.serve(f.outcome)
	}
	r.flights.leave(f, w)
	if f.stale != nil {
		return r.serve(*f.stale)
	}
	return false, err
}

// await returns nil once the flight is done, or the reason why the caller stops
// waiting.
func (r *Resolver) await(ctx context.Context, f *flight, w *waiter) error {
	var staleWait <-chan time.Time
	if f.stale != nil {
		timer := time.NewTimer(r.staleWait)
		defer timer.Stop()
		staleWait = timer.C
	}
	select {
	case <-f.done:
		return nil
	case <-w.done():
		return w.err
	case <-staleWait:
		return errStaleWait
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errStaleWait never reaches callers, who get the stale answer instead.
var errStaleWait = &Error{Kind: Timeout, Reason: NoAnswer}

// join joins the flight of name or starts one. The waiter is nil if the flight
// is already running. The flight is nil if the cache is fresh or no look-up may
// start; known is then the answer.
func (r *Resolver) join(account int64, name string) (f *flight, w *waiter, known entry) {
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
	w, err := r.enter(account, f)
	if err != nil {
		return nil, nil, f.fallback(err)
	}
	return f, w, entry{}
}

// newFlight returns a new flight, or nil and the cached entry if that is fresh.
// A flight stores its outcome before it is removed from the map, so an entry
// that is not fresh here has no flight under way.
func (r *Resolver) newFlight(name string) (*flight, entry) {
	known, fresh, stale := r.cache.get(name)
	if fresh {
		r.counters.hits.add()
		return nil, known
	}
	f := &flight{name: name, cancel: func() {}, done: make(chan struct{})}
	if stale {
		f.stale = &known
	}
	return f, entry{}
}

// enter adds a caller of the account to a flight that is not running yet. The
// caller must hold flights.mu.
func (r *Resolver) enter(account int64, f *flight) (*waiter, *Error) {
	fs := &r.flights
	if fs.closed {
		return nil, &Error{Kind: Failure, Reason: Closed}
	}
	w, err := fs.queue.enqueue(account, f)
	if err != nil {
		r.counters.refused.Add(1)
		return nil, err
	}
	r.counters.countMiss(fs.byName[f.name] == nil)
	f.callers++
	w.callers++
	fs.byName[f.name] = f
	r.startNext()
	if w.element != nil && w.timer == nil {
		w.timer = time.AfterFunc(r.timeout, func() { r.expire(w) })
	}
	return w, nil
}

// fallback returns the answer for a caller whose look-up cannot start because of
// err: the stale one if it exists.
func (f *flight) fallback(err *Error) entry {
	if f.stale != nil {
		return *f.stale
	}
	return entry{err: err}
}

// startNext starts flights until the queue has none that may run. The caller
// must hold flights.mu.
func (r *Resolver) startNext() {
	for f := r.flights.queue.next(); f != nil; f = r.flights.queue.next() {
		ctx, cancel := context.WithTimeout(r.ctx, r.timeout)
		f.cancel, f.started = cancel, time.Now()
		r.goroutines.Go(func() { r.run(ctx, f) })
	}
}

// expire ends a wait that has lasted for the whole timeout. Nothing is cached,
// since no query was sent.
func (r *Resolver) expire(w *waiter) {
	fs := &r.flights
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if w.element == nil {
		return // it got a slot meanwhile, or its callers left
	}
	r.counters.expired.Add(1)
	fs.endWait(w, &Error{Kind: Timeout, Reason: NoSlot})
}

// run looks the domain up and finishes the flight.
func (r *Resolver) run(ctx context.Context, f *flight) {
	defer f.cancel()
	a, err := r.lookUpMX(ctx, f.name)
	f.outcome = r.record(ctx, f, a, err)
	r.finish(f)
	close(f.done)
}

// finish removes the flight, releases its slot and starts the next flight.
func (r *Resolver) finish(f *flight) {
	fs := &r.flights
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.remove(f)
	fs.queue.release(f)
	r.startNext()
}

// record counts and caches the outcome of a flight. A cancelled flight has none.
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
