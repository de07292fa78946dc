package api

import (
	"context"
	"sync"
)

// A keyedLock is a lock for each key. It holds only the keys that are locked. The zero
// value is ready to use.
type keyedLock struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the lock is released
}

// lock locks key. It waits while another caller holds it, until ctx ends.
func (l *keyedLock) lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		released, taken := l.try(key)
		if !taken {
			return func() { l.release(key, released) }, nil
		}
		select {
		case <-released:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// try locks key and returns taken false, or returns the channel of who holds it.
func (l *keyedLock) try(key string) (released chan struct{}, taken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held := l.held[key]; held != nil {
		return held, true
	}
	if l.held == nil {
		l.held = map[string]chan struct{}{}
	}
	released = make(chan struct{})
	l.held[key] = released
	return released, false
}

func (l *keyedLock) release(key string, released chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, key)
	close(released)
}
