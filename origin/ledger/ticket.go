package ledger

import (
	"context"
	"sync/atomic"
)

// An operation is decided by the writer as part of a batch.
type operation interface {
	want(*wanted)                    // what to load for it
	decide(*book) (Admission, error) // pure: it reads and changes the book alone
}

// A ticket is an operation on its way through the writer. Its state settles
// who has it when the caller gives up while the writer is at work.
type ticket struct {
	op        operation
	state     atomic.Int32
	ready     chan struct{} // closed when admission and err stand
	admission Admission
	err       error
}

const (
	waiting  = iota
	taken    // by the writer
	left     // by the caller
	answered // by the writer
)

func newTicket(op operation) *ticket { return &ticket{op: op, ready: make(chan struct{})} }

// submit queues a ticket and waits for its answer. When ctx ends first, the
// operation is not done, or the writer undoes it.
func (l *Ledger) submit(ctx context.Context, t *ticket) error {
	if err := l.enqueue(ctx, t); err != nil {
		return err
	}
	select {
	case <-t.ready:
		return t.err
	case <-ctx.Done():
	}
	if t.leave() {
		return ctx.Err()
	}
	<-t.ready
	return t.err
}

func (l *Ledger) enqueue(ctx context.Context, t *ticket) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return ErrClosed
	}
	select {
	case l.queue <- t:
		return nil
	default:
	}
	select {
	case l.queue <- t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave gives an operation up. A settlement that the writer has taken is
// waited for instead, since it cannot be undone.
func (t *ticket) leave() bool {
	if t.state.CompareAndSwap(waiting, left) {
		return true
	}
	_, admission := t.op.(*admitting)
	return admission && t.state.CompareAndSwap(taken, left)
}

// take hands the operation to the writer, unless the caller has left.
func (t *ticket) take() bool { return t.state.CompareAndSwap(waiting, taken) }

// answer wakes the caller; it returns false when the caller has left.
func (t *ticket) answer() bool {
	if !t.state.CompareAndSwap(taken, answered) {
		return false
	}
	close(t.ready)
	return true
}
