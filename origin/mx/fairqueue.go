package mx

import (
	"container/list"
	"slices"
	"time"
)

// turns shares the slots of a [Resolver] fairly between accounts. Every account
// has a queue of its own and the queues take turns (round-robin), so that a
// long queue delays no other account.
//
// Two resources are shared: slots, one for each flight that asks, and places in
// the queues. The bound of an account is a fixed part of what is free: the
// dynamic thresholds for shared buffers of Choudhury and Hahne (IEEE/ACM
// Transactions on Networking 6(2), 1998). So accounts that take all they can get
// leave something free, and the next account is served at once.
//
// The fields and methods are guarded by flights.mu.
type fairQueue struct {
	slots   pool
	waiting pool
	queues  map[int64]*accountQueue // of the accounts that hold a slot or wait
	ring    list.List               // of *queue: the accounts that wait, the next one first
}

// pool is a resource that accounts share.
type pool struct {
	capacity, free int
	perAccount     int // for an account that is alone
}

func newPool(all, most int) pool { return pool{capacity: all, free: all, perAccount: most} }

func (p *pool) used() int { return p.capacity - p.free }

// allows reports whether an account may have one more: while it has less than
// free / (all/most - 1). An account that is alone comes to most. Others that
// come while it keeps what it has come to the same part of what is left, so n
// accounts leave (1 - most/all)^n of all free, whatever their order.
func (p *pool) allows(has int) bool {
	return p.free > 0 && has*(p.capacity-p.perAccount) < p.free*p.perAccount
}

// queue is the look-ups of one account.
type accountQueue struct {
	account int64
	slots   int           // slots
	waiters list.List     // of *place, the oldest first
	element *list.Element // in turns.ring; nil while places is empty
}

// place is a flight's place in an account's queue. A flight has one in the
// queue of every account that waits for it, and gets its slot from the first
// whose turn comes.
type waiter struct {
	flight  *flight
	queue   *accountQueue
	element *list.Element // in queue.places; nil once it is given up
	callers int           // that wait for the flight here
	timer   *time.Timer   // ends the wait
	ended   chan struct{} // closed if the wait ends without a slot
	err     *Error        // set before over is closed: why
}

func newFairQueue(c Config) fairQueue {
	return fairQueue{
		slots:   newPool(c.Concurrency, c.AccountConcurrency),
		waiting: newPool(c.MaxWaiting, c.AccountWaiting),
		queues:  map[int64]*accountQueue{},
	}
}

// enter returns the place of f in the account's queue, a new one if it has
// none, or the reason why it gets none.
func (t *fairQueue) enqueue(account int64, f *flight) (*waiter, *Error) {
	q := t.queues[account]
	if q == nil {
		q = &accountQueue{account: account}
	}
	if p := f.waiterIn(q); p != nil {
		return p, nil
	}
	if err := t.limitError(q); err != nil {
		return nil, err
	}
	t.queues[account] = q
	return t.push(q, f), nil
}

// refusal says why the account gets no further place. One that may have a slot
// gives the place up at once.
func (t *fairQueue) limitError(q *accountQueue) *Error {
	switch {
	case t.slots.allows(q.slots), t.waiting.allows(q.waiters.Len()):
		return nil
	case q.waiters.Len() > 0:
		return &Error{Kind: Limited, Reason: AccountLimit}
	}
	return &Error{Kind: Limited, Reason: GlobalLimit}
}

func (t *fairQueue) push(q *accountQueue, f *flight) *waiter {
	p := &waiter{flight: f, queue: q, ended: make(chan struct{})}
	p.element = q.waiters.PushBack(p)
	f.waiters = append(f.waiters, p)
	t.waiting.free--
	if q.element == nil {
		q.element = t.ring.PushBack(q)
	}
	return p
}

// next gives a slot to the next flight, or returns nil if none may have one. It
// passes over at most as many accounts as there are slots: one without a slot
// is passed over only if no slot is free.
func (t *fairQueue) next() *flight {
	for e := t.ring.Front(); e != nil && t.slots.free > 0; e = e.Next() {
		if q := e.Value.(*accountQueue); t.slots.allows(q.slots) {
			t.ring.MoveToBack(e)
			f := q.waiters.Front().Value.(*waiter).flight
			t.assign(q, f)
			return f
		}
	}
	return nil
}

// hold takes a slot of the account for f, which gives up its places.
func (t *fairQueue) assign(q *accountQueue, f *flight) {
	q.slots++
	t.slots.free--
	f.owner = q
	for len(f.waiters) > 0 {
		t.remove(f.waiters[0])
	}
}

// release gives the slot of f back.
func (t *fairQueue) release(f *flight) {
	f.owner.slots--
	t.slots.free++
	t.discard(f.owner)
}

// leave gives a place up; one that is given up already does not matter.
func (t *fairQueue) remove(p *waiter) {
	if p.element == nil {
		return
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	q, f := p.queue, p.flight
	q.waiters.Remove(p.element)
	p.element = nil
	f.waiters = slices.DeleteFunc(f.waiters, func(other *waiter) bool { return other == p })
	t.waiting.free++
	if q.waiters.Len() == 0 {
		t.ring.Remove(q.element)
		q.element = nil
		t.discard(q)
	}
}

// forget drops the queue of an account that has nothing under way.
func (t *fairQueue) discard(q *accountQueue) {
	if q.slots == 0 && q.element == nil {
		delete(t.queues, q.account)
	}
}

// ended is closed if the wait ends without a slot. A caller that has no place
// waits for none.
func (p *waiter) done() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.ended
}
