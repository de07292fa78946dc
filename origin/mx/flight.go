package mx

import (
	"context"
	"sync"
	"time"
)

// flight is one look-up that any number of callers wait for.
type flight struct {
	name    string
	stale   *entry             // told to those who lose patience; nil: none
	cancel  context.CancelFunc // ends the look-up
	waiters int                // guarded by flights.mu
	done    chan struct{}      // closed once outcome is set
	outcome entry
}

// flights is the look-ups under way, one for each domain.
type flights struct {
	mu     sync.Mutex
	byName map[string]*flight
	limit  int
	closed bool
}

// share waits for the flight of name with everybody else who asks for it.
func (r *Resolver) share(ctx context.Context, name string) (bool, error) {
	f, known := r.board(name)
	if f == nil {
		return known.result()
	}
	var patience <-chan time.Time
	if f.stale != nil {
		timer := time.NewTimer(r.patience)
		defer timer.Stop()
		patience = timer.C
	}
	select {
	case <-f.done:
		return f.outcome.result()
	case <-patience:
	case <-ctx.Done():
	}
	r.flights.leave(f)
	if f.stale != nil {
		r.counters.stale.Add(1)
		return f.stale.result()
	}
	return false, ctx.Err()
}

// board joins the flight of name or starts one. Where there is none and need
// be none, it returns what is known instead.
func (r *Resolver) board(name string) (*flight, entry) {
	r.flights.mu.Lock()
	defer r.flights.mu.Unlock()
	if f := r.flights.byName[name]; f != nil {
		f.waiters++
		r.counters.shared.Add(1)
		return f, entry{}
	}
	// A flight stores its outcome before it leaves the map, so that what is
	// not known here is asked by nobody.
	known, fresh, ok := r.cache.get(name)
	if ok && fresh {
		r.counters.hits.Add(1)
		return nil, known
	}
	var stale *entry
	if ok && known.err == nil {
		stale = &known
	}
	if err := r.flights.refuse(); err != nil {
		if stale != nil {
			r.counters.stale.Add(1)
			return nil, *stale
		}
		return nil, entry{err: err}
	}
	return r.depart(name, stale), entry{}
}

// refuse says why no further flight may start.
func (fs *flights) refuse() *Error {
	switch {
	case fs.closed:
		return &Error{Kind: Failure, Reason: Closed}
	case len(fs.byName) >= fs.limit:
		return &Error{Kind: Failure, Reason: Overloaded}
	}
	return nil
}

// depart starts a flight with its first waiter. It belongs to no caller: who
// leaves cancels it for nobody else. The refresh of a stale answer is awaited
// by the cache too, and so outlasts the callers' patience.
func (r *Resolver) depart(name string, stale *entry) *flight {
	r.counters.misses.Add(1)
	ctx, cancel := context.WithTimeout(r.life, r.timeout)
	f := &flight{name: name, stale: stale, cancel: cancel, waiters: 1, done: make(chan struct{})}
	if stale != nil {
		f.waiters++
	}
	r.flights.byName[name] = f
	r.work.Go(func() { r.fly(ctx, f) })
	return f
}

// fly looks the domain up and tells the outcome.
func (r *Resolver) fly(ctx context.Context, f *flight) {
	defer f.cancel()
	a, err := r.ration(ctx, f.name)
	f.outcome = r.settle(ctx, f, a, err)
	r.flights.remove(f)
	close(f.done)
}

// ration looks name up once one of the slots is free.
func (r *Resolver) ration(ctx context.Context, name string) (answer, *Error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
		return r.chase(ctx, name)
	case <-ctx.Done():
		return answer{}, &Error{Kind: Timeout, Reason: Busy}
	}
}

// settle counts and keeps what was found out. A flight that was called off
// found out nothing.
func (r *Resolver) settle(ctx context.Context, f *flight, a answer, err *Error) entry {
	switch {
	case err == nil:
		r.counters.outcome(a.mx, 0)
		return r.cache.keep(f.name, a)
	case ctx.Err() == context.Canceled:
		return entry{err: &Error{Kind: Failure, Reason: Closed}}
	}
	r.counters.outcome(false, err.Kind)
	kept := r.cache.keepFailure(f.name, err, f.stale)
	if kept.err == nil {
		r.counters.stale.Add(1)
	}
	return kept
}

// leave gives up a place; the last one to leave calls the flight off.
func (fs *flights) leave(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.waiters--; f.waiters == 0 {
		fs.drop(f)
		f.cancel()
	}
}

func (fs *flights) remove(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.drop(f)
}

// drop takes f off the map, where a newer flight may stand already.
func (fs *flights) drop(f *flight) {
	if fs.byName[f.name] == f {
		delete(fs.byName, f.name)
	}
}

func (fs *flights) close() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.closed = true
}

func (fs *flights) count() int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return len(fs.byName)
}
