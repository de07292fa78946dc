package mx

import (
	"slices"
	"sync"
)

// flights is the set of look-ups under way, one per domain.
type flights struct {
	mu     sync.Mutex
	byName map[string]*flight
	queue  fairQueue
	closed bool
}

// leave removes a caller. The flight is cancelled when its last caller leaves,
// unless it refreshes a stale answer: that outcome is for later callers.
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

// remove deletes f from the map, unless a newer flight has taken its name. The
// caller must hold mu.
func (fs *flights) remove(f *flight) {
	if fs.byName[f.name] == f {
		delete(fs.byName, f.name)
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
	for _, f := range fs.byName {
		for _, w := range slices.Clone(f.waiters) {
			fs.endWait(w, &Error{Kind: Failure, Reason: Closed})
		}
		f.first.interrupt()
	}
}

func (fs *flights) count() (underWay, waiting int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return len(fs.byName), fs.queue.waiting.used()
}
