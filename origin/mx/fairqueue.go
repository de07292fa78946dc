package mx

import (
	"container/list"
	"slices"
	"time"
)

// fairQueue shares the lookup slots of a [Resolver] fairly between accounts.
// Each account has its own queue, and the queues are served round-robin, so a
// long queue does not delay other accounts.
//
// It limits two resources: slots, one per running flight, and queue entries. An
// account's limit is a fixed fraction of what is free: the dynamic thresholds
// for shared buffers of Choudhury and Hahne (IEEE/ACM Transactions on
// Networking 6(2), 1998). Accounts that take all they can get therefore leave
// some free, and the next account is served at once.
//
// Fields and methods are guarded by flights.mu.
type fairQueue struct {
	slots   pool
	waiting pool
	queues  map[int64]*accountQueue // of accounts that use a slot or wait
	ring    list.List               // of *accountQueue: accounts that wait, next to be served first
}

// pool is a resource that accounts share.
type pool struct {
	capacity, free int
	perAccount     int // limit of an account that is alone
}

func newPool(capacity, perAccount int) pool {
	return pool{capacity: capacity, free: capacity, perAccount: perAccount}
}

func (p *pool) used() int { return p.capacity - p.free }

// allows reports whether an account that has n units may take one more: while n
// is below free / (capacity/perAccount - 1). An account that is alone reaches
// perAccount. Each further account reaches the same fraction of what is left, so
// n accounts leave (1 - perAccount/capacity)^n of the capacity free, in any
// order.
func (p *pool) allows(n int) bool {
	return p.free > 0 && n*(p.capacity-p.perAccount) < p.free*p.perAccount
}

// accountQueue is the queue of one account.
type accountQueue struct {
	account int64
	slots   int           // in use
	waiters list.List     // of *waiter, oldest first
	element *list.Element // in fairQueue.ring; nil while waiters is empty
}

// waiter is the entry of a flight in an account's queue. A flight has an entry
// in the queue of each account that waits for it, and takes its slot from the
// first account to be served.
type waiter struct {
	flight  *flight
	queue   *accountQueue
	element *list.Element // in queue.waiters; nil once removed
	callers int           // of this account that wait for the flight
	timer   *time.Timer   // ends the wait
	ended   chan struct{} // closed if the wait ends without a slot
	err     *Error        // why it ended; set before ended is closed
}

func newFairQueue(c Config) fairQueue {
	return fairQueue{
		slots:   newPool(c.Concurrency, c.AccountConcurrency),
		waiting: newPool(c.maxWaiting, c.accountWaiting),
		queues:  map[int64]*accountQueue{},
	}
}

// enqueue adds f to the account's queue and returns its entry, or the entry
// that is already there. It returns an error if the account is at its limit.
func (fq *fairQueue) enqueue(account int64, f *flight) (*waiter, *Error) {
	q := fq.queueOf(account)
	if w := f.waiterIn(q); w != nil {
		return w, nil
	}
	if err := fq.limitError(q); err != nil {
		return nil, err
	}
	fq.queues[account] = q
	return fq.push(q, f), nil
}

// take gives f a slot of the account if f is new and one is free for the account. No
// flight waits that should be first: next has started all that may run.
func (fq *fairQueue) take(account int64, f *flight) bool {
	q := fq.queueOf(account)
	if len(f.waiters) > 0 || !fq.slots.allows(q.slots) {
		return false
	}
	fq.queues[account] = q
	fq.assign(q, f)
	return true
}

func (fq *fairQueue) queueOf(account int64) *accountQueue {
	if q := fq.queues[account]; q != nil {
		return q
	}
	return &accountQueue{account: account}
}

// limitError returns an error if the account may not add an entry. An account
// that may take a slot may always add one, since it is removed at once.
func (fq *fairQueue) limitError(q *accountQueue) *Error {
	switch {
	case fq.slots.allows(q.slots), fq.waiting.allows(q.waiters.Len()):
		return nil
	case q.waiters.Len() > 0:
		return &Error{Kind: Limited, Reason: AccountLimit}
	}
	return &Error{Kind: Limited, Reason: GlobalLimit}
}

func (fq *fairQueue) push(q *accountQueue, f *flight) *waiter {
	w := &waiter{flight: f, queue: q, ended: make(chan struct{})}
	w.element = q.waiters.PushBack(w)
	f.waiters = append(f.waiters, w)
	fq.waiting.free--
	if q.element == nil {
		q.element = fq.ring.PushBack(q)
	}
	return w
}

// next assigns a slot to the next flight and returns it, or nil if no flight may
// have one. It skips at most as many accounts as there are slots: an account
// that uses no slot is skipped only if no slot is free.
func (fq *fairQueue) next() *flight {
	for e := fq.ring.Front(); e != nil && fq.slots.free > 0; e = e.Next() {
		if q := e.Value.(*accountQueue); fq.slots.allows(q.slots) {
			fq.ring.MoveToBack(e)
			f := q.waiters.Front().Value.(*waiter).flight
			fq.assign(q, f)
			return f
		}
	}
	return nil
}

// assign gives f a slot of the account and removes it from all queues.
func (fq *fairQueue) assign(q *accountQueue, f *flight) {
	q.slots++
	fq.slots.free--
	f.owner = q
	for len(f.waiters) > 0 {
		fq.remove(f.waiters[0])
	}
}

// release returns the slot of f.
func (fq *fairQueue) release(f *flight) {
	f.owner.slots--
	fq.slots.free++
	fq.discard(f.owner)
}

// remove removes w from its queue. It does nothing if w is already removed.
func (fq *fairQueue) remove(w *waiter) {
	if w.element == nil {
		return
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	q, f := w.queue, w.flight
	q.waiters.Remove(w.element)
	w.element = nil
	f.waiters = slices.DeleteFunc(f.waiters, func(other *waiter) bool { return other == w })
	fq.waiting.free++
	if q.waiters.Len() == 0 {
		fq.ring.Remove(q.element)
		q.element = nil
		fq.discard(q)
	}
}

// discard deletes the queue of an account without running or waiting flights.
func (fq *fairQueue) discard(q *accountQueue) {
	if q.slots == 0 && q.element == nil {
		delete(fq.queues, q.account)
	}
}

// done returns a channel that is closed if the wait ends without a slot. It is
// nil, and so blocks, for a nil waiter: the flight is already running.
func (w *waiter) done() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.ended
}
