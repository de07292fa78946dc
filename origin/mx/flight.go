package mx

import (
	"context"
	"time"
)

// flight is one look-up that any number of callers wait for.
type flight struct {
	name    string
	stale   *entry             // told to those who lose patience; nil: none
	cancel  context.CancelFunc // ends the look-up
	started time.Time
	waiters int           // guarded by flights.mu
	done    chan struct{} // closed once outcome is set
	outcome entry
}

// share waits for the flight of name with everybody else who asks for it. A
// stale answer is told to who has waited long enough (RFC 8767 section 5), and
// in place of ctx's error.
func (r *Resolver) share(ctx context.Context, name string) (bool, error) {
	f, known := r.join(name)
	if f == nil {
		return r.tell(known)
	}
	var patience <-chan time.Time
	if f.stale != nil {
		timer := time.NewTimer(r.patience)
		defer timer.Stop()
		patience = timer.C
	}
	select {
	case <-f.done:
		return r.tell(f.outcome)
	case <-patience:
	case <-ctx.Done():
	}
	r.flights.leave(f)
	if f.stale != nil {
		return r.tell(*f.stale)
	}
	return false, ctx.Err()
}

// join joins the flight of name or starts one. Where there is none and need
// be none, or may be none, it returns what is known instead.
func (r *Resolver) join(name string) (*flight, entry) {
	r.flights.mu.Lock()
	defer r.flights.mu.Unlock()
	if f := r.flights.byName[name]; f != nil {
		f.waiters++
		r.counters.shared.Add(1)
		return f, entry{}
	}
	// A flight stores its outcome before it leaves the map, so what is not
	// fresh here is being asked by nobody.
	known, fresh, ok := r.cache.get(name)
	if fresh {
		r.counters.hits.Add(1)
		return nil, known
	}
	if err := r.flights.refusal(); err != nil && ok {
		return nil, known
	} else if err != nil {
		return nil, entry{err: err}
	}
	if ok {
		return r.start(name, &known), entry{}
	}
	return r.start(name, nil), entry{}
}

// start starts a flight with its first waiter. It belongs to no caller: who
// leaves cancels it for nobody else. The refresh of a stale answer is awaited
// by the cache too, and so outlasts the callers' patience.
func (r *Resolver) start(name string, stale *entry) *flight {
	r.counters.misses.Add(1)
	ctx, cancel := context.WithTimeout(r.life, r.timeout)
	f := &flight{
		name: name, stale: stale, cancel: cancel, waiters: 1,
		started: time.Now(), done: make(chan struct{}),
	}
	if stale != nil {
		f.waiters++
	}
	r.flights.byName[name] = f
	r.work.Go(func() { r.run(ctx, f) })
	return f
}

// run looks the domain up and lands the flight.
func (r *Resolver) run(ctx context.Context, f *flight) {
	defer f.cancel()
	a, err := r.resolve(ctx, f.name)
	f.outcome = r.settle(ctx, f, a, err)
	r.flights.remove(f)
	close(f.done)
}

// resolve looks name up once one of the slots is free.
func (r *Resolver) resolve(ctx context.Context, name string) (answer, *Error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
		return r.follow(ctx, name)
	case <-ctx.Done():
		return answer{}, &Error{Kind: Timeout, Reason: Busy}
	}
}

// settle counts and keeps what was found out. A flight that was called off
// found out nothing.
func (r *Resolver) settle(ctx context.Context, f *flight, a answer, err *Error) entry {
	switch {
	case err == nil:
		r.counters.outcome(a.mx, 0, time.Since(f.started))
		return r.cache.keep(f.name, a)
	case ctx.Err() == context.Canceled:
		return entry{err: &Error{Kind: Failure, Reason: Closed}}
	}
	r.counters.outcome(false, err.Kind, time.Since(f.started))
	return r.cache.keepFailure(f.name, err, f.stale)
}
