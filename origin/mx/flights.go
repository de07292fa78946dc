package mx

import (
	"slices"
	"sync"
)

// flights is the look-ups under way, one for each domain.
type flights struct {
	mu     sync.Mutex
	byName map[string]*flight
	queue  fairQueue
	closed bool
}

// leave removes a caller; the last one to leave calls the flight off. The
// refresh of a stale answer goes on, since its result is for later callers.
func (fs *flights) leave(f *flight, p *waiter) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if p != nil {
		p.callers--
	}
	f.callers--
	if f.stale != nil {
		return
	}
	if p != nil && p.callers == 0 {
		fs.queue.remove(p)
	}
	if f.callers == 0 {
		fs.remove(f)
		f.cancel()
	}
}

// drop removes f from the map, unless a newer flight has its name by now; mu is
// held.
func (fs *flights) remove(f *flight) {
	if fs.byName[f.name] == f {
		delete(fs.byName, f.name)
	}
}

// end ends the wait at p without a slot, and with it the flight if it waits
// nowhere else; mu is held.
func (fs *flights) endWait(p *waiter, err *Error) {
	fs.queue.remove(p)
	p.err = err
	close(p.ended)
	if len(p.flight.waiters) == 0 {
		fs.remove(p.flight)
	}
}

// close lets no further flight start, and ends those that wait for a slot.
func (fs *flights) close() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.closed = true
	for _, f := range fs.byName {
		for _, p := range slices.Clone(f.waiters) {
			fs.endWait(p, &Error{Kind: Failure, Reason: Closed})
		}
	}
}

func (fs *flights) count() (underWay, waiting int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return len(fs.byName), fs.queue.waiting.used()
}
