package mx

import (
	"context"
	"slices"
	"sync"
	"time"
)

// flight is one lookup shared by any number of callers. It waits for a slot in
// the queues of the accounts that requested it, then runs: if a slot is free, on its
// first caller's goroutine, as long as the first query may settle it (query.go). The
// fields below subject are guarded by flights.mu until done is closed.
type flight struct {
	subject
	stale   *entry             // served to callers after staleWait; may be nil
	waiters []*waiter          // its queue entries while it waits for a slot
	owner   *accountQueue      // the account whose slot it uses; nil while it waits
	began   uint32             // the cache's generation then
	cancel  context.CancelFunc // ends the lookup, if it has a goroutine of its own
	started time.Time          // when it got its slot
	callers int
	done    chan struct{} // closed once outcome is set; nil until a caller waits for it
	outcome *entry
	first   firstQuery // has its own lock
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

// lookupShared joins the flight of s, or starts it, and waits for its
// outcome. If a stale result exists, a caller gets it after staleWait (RFC 8767
// section 5) or when its wait ends for another reason.
func (r *Resolver) lookupShared(ctx context.Context, account int64, s subject) (*entry, error) {
	c, known := r.join(account, s)
	f := c.flight
	if f == nil {
		return r.serve(known)
	}
	if c.runs && r.runHere(ctx, f) {
		return r.serve(f.outcome)
	}
	err := r.await(ctx, f, c.waiter)
	if err == nil {
		return r.serve(f.outcome)
	}
	r.flights.leave(f, c.waiter)
	if f.stale != nil {
		return r.serve(f.stale)
	}
	return noRecords, err
}

// caller is how a caller takes part in a flight.
type caller struct {
	flight *flight // nil if there is nothing to wait for
	waiter *waiter // nil if the flight is running
	runs   bool    // the caller runs the flight
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

// errStaleWait never reaches callers, who get the stale result instead.
var errStaleWait = &Error{Kind: Timeout, Reason: NoReply}

// join joins the flight of s or starts one. If the cache is fresh or no lookup
// may start, there is no flight, and known is the result.
func (r *Resolver) join(account int64, s subject) (c caller, known *entry) {
	fs := &r.flights
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.bySubject[s]
	if f != nil && f.owner != nil {
		f.callers++
		f.makeDone()
		r.counters.shared.Add(1)
		return caller{flight: f}, nil
	}
	if f == nil {
		if f, known = r.newFlight(s); f == nil {
			return caller{}, known
		}
	}
	c, err := r.enter(account, f)
	if err != nil {
		return caller{}, f.fallback(err)
	}
	return c, nil
}

// makeDone makes done for a caller that will wait. The caller must hold flights.mu.
func (f *flight) makeDone() {
	if f.done == nil {
		f.done = make(chan struct{})
	}
}

// newFlight returns a new flight, or nil and the cached entry if that is fresh.
// A flight stores its outcome before it is removed from the map, so an entry
// that is not fresh here has no flight.
func (r *Resolver) newFlight(s subject) (*flight, *entry) {
	known, fresh := r.cache.get(s)
	if fresh {
		r.counters.hits.Add(1)
		return nil, known
	}
	f := &flight{subject: s, began: r.cache.generation.Load(), cancel: func() {}}
	if known != nil {
		stale := *known
		stale.stale = true
		f.stale = &stale
	}
	return f, nil
}

// enter adds a caller of the account to a flight that is not running yet. The
// caller must hold flights.mu.
func (r *Resolver) enter(account int64, f *flight) (caller, *Error) {
	fs := &r.flights
	if fs.closed {
		return caller{}, &Error{Kind: Failure, Reason: Closed}
	}
	// A refresh goes on without its callers, so none of them runs it.
	if f.stale == nil && fs.queue.take(account, f) {
		r.startHere(f)
		return caller{flight: f, runs: true}, nil
	}
	w, err := r.enqueue(account, f)
	return caller{flight: f, waiter: w}, err
}

// startHere starts a flight that its first caller runs. The caller must hold
// flights.mu.
func (r *Resolver) startHere(f *flight) {
	r.counters.countMiss(true)
	f.callers++
	f.started = time.Now()
	r.flights.bySubject[f.subject] = f
	r.goroutines.Add(1)
}

// enqueue adds a caller to a flight that waits for a slot. The caller must hold
// flights.mu.
func (r *Resolver) enqueue(account int64, f *flight) (*waiter, *Error) {
	fs := &r.flights
	w, err := fs.queue.enqueue(account, f)
	if err != nil {
		r.counters.refused.Add(1)
		return nil, err
	}
	r.counters.countMiss(fs.bySubject[f.subject] == nil)
	f.callers++
	f.makeDone()
	w.callers++
	fs.bySubject[f.subject] = f
	r.startNext()
	if w.element != nil && w.timer == nil {
		w.timer = time.AfterFunc(r.timeout, func() { r.expire(w) })
	}
	return w, nil
}

// fallback returns the result for a caller whose lookup cannot start because of
// err: the stale one if it exists.
func (f *flight) fallback(err *Error) *entry {
	if f.stale != nil {
		return f.stale
	}
	return &entry{err: err}
}

// startNext starts flights until the queue has none that may run. The caller
// must hold flights.mu.
func (r *Resolver) startNext() {
	for f := r.flights.queue.next(); f != nil; f = r.flights.queue.next() {
		f.started = time.Now()
		r.startGoroutine(f)
	}
}

// startGoroutine runs f on a goroutine of its own. The caller must hold flights.mu.
func (r *Resolver) startGoroutine(f *flight) {
	ctx, cancel := context.WithDeadline(r.ctx, f.started.Add(r.timeout))
	f.cancel = cancel
	f.makeDone()
	r.goroutines.Go(func() { r.run(ctx, f) })
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

// runHere runs f on its first caller's goroutine and reports whether that finished it.
// If more than the first query is needed, or ctx ends, a goroutine takes f over, also
// if this panics.
func (r *Resolver) runHere(ctx context.Context, f *flight) (finished bool) {
	defer r.goroutines.Done()
	defer func() {
		if !finished {
			r.flights.mu.Lock()
			defer r.flights.mu.Unlock()
			r.startGoroutine(f)
		}
	}()
	a, settled := r.askFirst(ctx, f)
	if settled {
		r.finish(f, r.recordResult(f, a))
	}
	return settled
}

// run looks the domain up and finishes the flight.
func (r *Resolver) run(ctx context.Context, f *flight) {
	defer f.cancel()
	if f.first.query == nil { // else a caller has asked it
		if a, settled := r.askFirst(ctx, f); settled {
			r.finish(f, r.recordResult(f, a))
			return
		}
	}
	a, err := r.resolve(ctx, f.subject, f.first.take())
	r.finish(f, r.record(ctx, f, a, err))
}

// finish removes the flight, releases its slot and starts the next flight.
func (r *Resolver) finish(f *flight, outcome *entry) {
	fs := &r.flights
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.outcome = outcome
	fs.remove(f)
	fs.queue.release(f)
	r.startNext()
	if f.done != nil {
		close(f.done)
	}
}

// record counts and caches the outcome of a flight. A cancelled flight has none, and
// one whose reply proves nothing yet is not cached: it will in a moment.
func (r *Resolver) record(ctx context.Context, f *flight, a result, err *Error) *entry {
	switch {
	case err == nil:
		return r.recordResult(f, a)
	case ctx.Err() == context.Canceled:
		return &entry{err: &Error{Kind: Failure, Reason: Closed}}
	}
	r.counters.countOutcome(false, err.Kind, time.Since(f.started))
	if err.Reason == Unproven {
		return f.fallback(err)
	}
	return r.cache.storeFailure(f.subject, err, f.stale)
}

func (r *Resolver) recordResult(f *flight, a result) *entry {
	r.counters.countOutcome(a.found, 0, time.Since(f.started))
	return r.cache.store(f.subject, a, f.began)
}

// flights is the set of lookups in flight, one per subject.
type flights struct {
	mu        sync.Mutex
	bySubject map[subject]*flight
	queue     fairQueue
	closed    bool
}

// leave removes a caller. The flight is cancelled when its last caller leaves,
// unless it refreshes a stale result: that outcome is for later callers.
func (fs *flights) leave(f *flight, w *waiter) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if w != nil {
		w.callers--
	}
	f.callers--
	if f.stale != nil {
		return
	}
	if w != nil && w.callers == 0 {
		fs.queue.remove(w)
	}
	if f.callers == 0 {
		fs.remove(f)
		f.cancel()
	}
}

// remove deletes f from the map, unless a newer flight has taken its place. The
// caller must hold mu.
func (fs *flights) remove(f *flight) {
	if fs.bySubject[f.subject] == f {
		delete(fs.bySubject, f.subject)
	}
}

// endWait ends the wait of w with err, and removes the flight if it waits in no
// other queue. The caller must hold mu.
func (fs *flights) endWait(w *waiter, err *Error) {
	fs.queue.remove(w)
	w.err = err
	close(w.ended)
	if len(w.flight.waiters) == 0 {
		fs.remove(w.flight)
	}
}

// close prevents new flights, ends the wait of those without a slot, and has callers
// leave the flights that they run.
func (fs *flights) close() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.closed = true
	for _, f := range fs.bySubject {
		for _, w := range slices.Clone(f.waiters) {
			fs.endWait(w, &Error{Kind: Failure, Reason: Closed})
		}
		f.first.interrupt()
	}
}

func (fs *flights) count() (inFlight, waiting int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return len(fs.bySubject), fs.queue.waiting.used()
}
