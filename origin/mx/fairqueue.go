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
type turns struct {
	slots  pool
	places pool
	queues map[int64]*queue // of the accounts that hold a slot or wait
	ring   list.List        // of *queue: the accounts that wait, the next one first
}

// pool is a resource that accounts share.
type pool struct {
	all, free int
	most      int // for an account that is alone
}

func newPool(all, most int) pool { return pool{all: all, free: all, most: most} }

func (p *pool) taken() int { return p.all - p.free }

// allows reports whether an account may have one more: while it has less than
// free / (all/most - 1). An account that is alone comes to most. Others that
// come while it keeps what it has come to the same part of what is left, so n
// accounts leave (1 - most/all)^n of all free, whatever their order.
func (p *pool) allows(has int) bool { return p.free > 0 && has*(p.all-p.most) < p.free*p.most }

// queue is the look-ups of one account.
type queue struct {
	account int64
	held    int           // slots
	places  list.List     // of *place, the oldest first
	turn    *list.Element // in turns.ring; nil while places is empty
}

// place is a flight's place in an account's queue. A flight has one in the
// queue of every account that waits for it, and gets its slot from the first
// whose turn comes.
type place struct {
	flight  *flight
	queue   *queue
	at      *list.Element // in queue.places; nil once it is given up
	callers int           // that wait for the flight here
	timer   *time.Timer   // ends the wait
	over    chan struct{} // closed if the wait ends without a slot
	err     *Error        // set before over is closed: why
}

func newTurns(c Config) turns {
	return turns{
		slots:  newPool(c.Concurrency, c.AccountConcurrency),
		places: newPool(c.MaxWaiting, c.AccountWaiting),
		queues: map[int64]*queue{},
	}
}

// enter returns the place of f in the account's queue, a new one if it has
// none, or the reason why it gets none.
func (t *turns) enter(account int64, f *flight) (*place, *Error) {
	q := t.queues[account]
	if q == nil {
		q = &queue{account: account}
	}
	if p := f.placeIn(q); p != nil {
		return p, nil
	}
	if err := t.refusal(q); err != nil {
		return nil, err
	}
	t.queues[account] = q
	return t.append(q, f), nil
}

// refusal says why the account gets no further place. One that may have a slot
// gives the place up at once.
func (t *turns) refusal(q *queue) *Error {
	switch {
	case t.slots.allows(q.held), t.places.allows(q.places.Len()):
		return nil
	case q.places.Len() > 0:
		return &Error{Kind: Limited, Reason: TooMany}
	}
	return &Error{Kind: Limited, Reason: Overloaded}
}

func (t *turns) append(q *queue, f *flight) *place {
	p := &place{flight: f, queue: q, over: make(chan struct{})}
	p.at = q.places.PushBack(p)
	f.places = append(f.places, p)
	t.places.free--
	if q.turn == nil {
		q.turn = t.ring.PushBack(q)
	}
	return p
}

// next gives a slot to the next flight, or returns nil if none may have one. It
// passes over at most as many accounts as there are slots: one without a slot
// is passed over only if no slot is free.
func (t *turns) next() *flight {
	for e := t.ring.Front(); e != nil && t.slots.free > 0; e = e.Next() {
		if q := e.Value.(*queue); t.slots.allows(q.held) {
			t.ring.MoveToBack(e)
			f := q.places.Front().Value.(*place).flight
			t.hold(q, f)
			return f
		}
	}
	return nil
}

// hold takes a slot of the account for f, which gives up its places.
func (t *turns) hold(q *queue, f *flight) {
	q.held++
	t.slots.free--
	f.holder = q
	for len(f.places) > 0 {
		t.leave(f.places[0])
	}
}

// release gives the slot of f back.
func (t *turns) release(f *flight) {
	f.holder.held--
	t.slots.free++
	t.forget(f.holder)
}

// leave gives a place up; one that is given up already does not matter.
func (t *turns) leave(p *place) {
	if p.at == nil {
		return
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	q, f := p.queue, p.flight
	q.places.Remove(p.at)
	p.at = nil
	f.places = slices.DeleteFunc(f.places, func(other *place) bool { return other == p })
	t.places.free++
	if q.places.Len() == 0 {
		t.ring.Remove(q.turn)
		q.turn = nil
		t.forget(q)
	}
}

// forget drops the queue of an account that has nothing under way.
func (t *turns) forget(q *queue) {
	if q.held == 0 && q.turn == nil {
		delete(t.queues, q.account)
	}
}

// ended is closed if the wait ends without a slot. A caller that has no place
// waits for none.
func (p *place) ended() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.over
}
