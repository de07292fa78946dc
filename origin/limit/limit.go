// Package limit shares a fixed number of units, such as lookup slots or bytes of memory,
// between owners, such as accounts.
//
// An owner gets units as long as it then has at most Config.PerOwner, and at most a third of
// those that were free, rounded up. So owners that take all they can get leave some free, and
// while any is free, an owner that has none gets one (the dynamic thresholds of Choudhury and
// Hahne, IEEE/ACM Transactions on Networking 6(2), 1998).
//
// A take for which there is no room waits. The places to wait are bounded, and shared by the
// same rule. Owners that wait are served in turn, and the takes of one owner in the order in
// which they came. The last units are for small takes, which do not wait behind large ones:
// so large ones never block them.
package limit

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Config is the size of a [Limiter].
type Config struct {
	Units    int // in all
	PerOwner int // at most; if it is Units, one owner may have all of them

	Waiting         int // takes that wait at most; 0: none waits
	WaitingPerOwner int // as PerOwner

	Small    int // most units of a small take
	Reserved int // the last units, which only small takes get
}

// The errors of [Limiter.Take], besides that of its context.
var (
	ErrOwner = errors.New("limit: too many takes of this owner wait")
	ErrAll   = errors.New("limit: too many takes wait")
	ErrLarge = errors.New("limit: an owner can never have so many units")
)

// Limiter shares units between owners. It is safe for concurrent use.
type Limiter[Owner comparable] struct {
	config Config
	mu     sync.Mutex
	units  pool[Owner]
	places pool[Owner]                    // of the takes that wait
	queues map[class[Owner]]*queue[Owner] // those that have takes
	line   []*queue[Owner]                // the same, the next one to be served first
}

// class is what the takes have in common that wait behind each other.
type class[Owner comparable] struct {
	owner    Owner
	reserved int // units that they leave free
}

type queue[Owner comparable] struct {
	class[Owner]
	takes []*take[Owner]
}

type take[Owner comparable] struct {
	units   int
	queue   *queue[Owner]
	granted chan struct{} // closed once the owner has the units
}

// New returns a Limiter of which all is free.
func New[Owner comparable](c Config) *Limiter[Owner] {
	return &Limiter[Owner]{
		config: c, queues: map[class[Owner]]*queue[Owner]{},
		units: newPool[Owner](c.Units, c.PerOwner), places: newPool[Owner](c.Waiting, c.WaitingPerOwner),
	}
}

// Take takes n units, 1 or more, for an owner, which must Free them. It waits for them until
// ctx ends. After an error the owner has nothing to free.
func (l *Limiter[Owner]) Take(ctx context.Context, owner Owner, n int) error {
	t, err := l.enter(owner, n)
	if t == nil {
		return err
	}
	select {
	case <-t.granted:
		return nil
	case <-ctx.Done():
	}
	if l.leave(t) {
		return ctx.Err()
	}
	return nil // the units came at the same moment
}

// Free returns n units of an owner.
func (l *Limiter[Owner]) Free(owner Owner, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.units.add(owner, -n)
	l.serve()
}

// Waiting returns how many takes wait.
func (l *Limiter[Owner]) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.places.size - l.places.free
}

// Held returns how many units an owner has.
func (l *Limiter[Owner]) Held(owner Owner) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.units.held[owner]
}

// Used returns how many units all owners have.
func (l *Limiter[Owner]) Used() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.units.size - l.units.free
}

func (l *Limiter[Owner]) enter(owner Owner, n int) (*take[Owner], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := class[Owner]{owner: owner}
	if n > l.config.Small {
		of.reserved = l.config.Reserved
	}
	q := l.queues[of]
	switch {
	case q == nil && l.units.allows(owner, n, of.reserved):
		l.units.add(owner, n)
		return nil, nil
	case n+of.reserved > l.units.size || n > l.units.share(l.units.size):
		return nil, ErrLarge
	case !l.places.allows(owner, 1, 0) && l.places.held[owner] > 0:
		return nil, ErrOwner
	case !l.places.allows(owner, 1, 0):
		return nil, ErrAll
	case q == nil:
		q = &queue[Owner]{class: of}
		l.queues[of], l.line = q, append(l.line, q)
	}
	t := &take[Owner]{n, q, make(chan struct{})}
	q.takes = append(q.takes, t)
	l.places.add(owner, 1)
	return t, nil
}

// leave ends the wait of t. It reports false if t has its units.
func (l *Limiter[Owner]) leave(t *take[Owner]) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(t.queue.takes, t)
	if at < 0 {
		return false
	}
	l.remove(t.queue, at)
	l.serve() // the one behind it may want less
	return true
}

// serve grants the takes for which there is room. A queue that was served goes to the end of
// the line. The caller must hold mu.
func (l *Limiter[Owner]) serve() {
	for at := 0; at < len(l.line) && l.units.free > 0; {
		q := l.line[at]
		next := q.takes[0]
		if !l.units.allows(q.owner, next.units, q.reserved) {
			at++
			continue
		}
		l.units.add(q.owner, next.units)
		close(next.granted)
		l.line = append(slices.Delete(l.line, at, at+1), q)
		l.remove(q, 0)
	}
}

// remove removes a take that waits. The caller must hold mu.
func (l *Limiter[Owner]) remove(q *queue[Owner], at int) {
	l.places.add(q.owner, -1)
	q.takes = slices.Delete(q.takes, at, at+1)
	if len(q.takes) == 0 {
		delete(l.queues, q.class)
		l.line = slices.DeleteFunc(l.line, func(other *queue[Owner]) bool { return other == q })
	}
}

type pool[Owner comparable] struct {
	size, perOwner, free int
	held                 map[Owner]int
}

func newPool[Owner comparable](size, perOwner int) pool[Owner] {
	return pool[Owner]{size, perOwner, size, map[Owner]int{}}
}

// share returns how many units one owner may hold, if so many are free before it takes more.
func (p *pool[Owner]) share(free int) int {
	if p.perOwner >= p.size {
		return p.size
	}
	return min(p.perOwner, (free+2)/3)
}

func (p *pool[Owner]) allows(owner Owner, n, reserved int) bool {
	return n+reserved <= p.free && p.held[owner]+n <= p.share(p.free)
}

func (p *pool[Owner]) add(owner Owner, n int) {
	p.free -= n
	p.held[owner] += n
	if p.held[owner] == 0 {
		delete(p.held, owner)
	}
}
