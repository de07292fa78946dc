package mx

import "sync"

// flights is the look-ups under way, one for each domain.
type flights struct {
	mu     sync.Mutex
	byName map[string]*flight
	limit  int
	closed bool
}

// refusal says why no further flight may start; mu is held.
func (fs *flights) refusal() *Error {
	switch {
	case fs.closed:
		return &Error{Kind: Failure, Reason: Closed}
	case len(fs.byName) >= fs.limit:
		return &Error{Kind: Failure, Reason: Overloaded}
	}
	return nil
}

// leave gives up a caller's place; the last one to leave calls the flight off.
func (fs *flights) leave(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.waiters--; f.waiters == 0 {
		fs.drop(f)
		f.cancel()
	}
}

// remove takes off a flight that has landed.
func (fs *flights) remove(f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.drop(f)
}

// drop takes f off the map, where a newer flight may stand already; mu is held.
func (fs *flights) drop(f *flight) {
	if fs.byName[f.name] == f {
		delete(fs.byName, f.name)
	}
}

// close lets no further flight start.
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
