package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// A ticket is a charge on its way through the writer. Both the writer and the
// caller change its state:
//
//	waiting ──writer──▶ taken ──writer──▶ answered
//	   │                  └──caller──▶ abandoned
//	   └──caller──▶ withdrawn
//
// A withdrawn ticket is certainly not charged. A ticket abandoned after a
// transaction has taken it is charged if that transaction commits.
type ticket struct {
	request *Request
	Charge
	once     *Idempotency
	size     int64 // bytes of the answer to store
	state    atomic.Int32
	ready    chan struct{} // closed when answered
	decision Decision
	err      error
	op       chargeOp // of the group that the ticket is in
}

const (
	waiting   = iota
	taken     // a transaction decides it
	withdrawn // the caller left before that
	abandoned // the caller left while the transaction was under way
	answered
)

func newTicket(r *Request, c Charge) *ticket {
	return &ticket{request: r, Charge: c, once: r.once, size: int64(len(c.Answer)), ready: make(chan struct{})}
}

func (t *ticket) move(from, to int32) bool { return t.state.CompareAndSwap(from, to) }

// take moves a waiting ticket to taken and reports whether the transaction may
// charge it. A ticket that an earlier attempt of the group took may be charged.
func (t *ticket) take() bool { return t.move(waiting, taken) || t.state.Load() == taken }

// answer gives the caller its result. It returns false if the caller has left.
func (t *ticket) answer(d Decision, err error) bool {
	t.decision, t.err = d, err
	if t.move(taken, answered) || t.move(waiting, answered) {
		close(t.ready)
		return true
	}
	return false
}

// waitLimit bounds the time that a request waits for the database, in all its
// steps together. Tests of slow databases shorten it, others lengthen it.
const waitLimit = time.Second

var errTimeout = errors.New("it did not answer in time")

// submit queues a ticket and waits for its answer, for at most limit. It returns
// ErrUndecided if the limit passes while a transaction decides the ticket.
func (w *writer) submit(ctx context.Context, t *ticket, limit time.Duration) error {
	timer := w.newTimer(limit)
	defer w.release(timer)
	if err := w.enqueue(ctx, t, timer.C); err != nil {
		return err
	}
	return t.await(ctx.Done(), timer.C, ctx)
}

// await waits for the answer. Once a transaction has taken the ticket, gone has
// no effect: the outcome is about to be known.
func (t *ticket) await(gone <-chan struct{}, late <-chan time.Time, ctx context.Context) error {
	select {
	case <-t.ready:
		return t.err
	case <-gone:
		if t.move(waiting, withdrawn) {
			return ctx.Err()
		}
		return t.await(nil, late, ctx)
	case <-late:
	}
	switch {
	case t.move(waiting, withdrawn):
		return unavailable(errTimeout)
	case t.move(taken, abandoned):
		return ErrUndecided
	}
	<-t.ready
	return t.err
}

// newTimer returns a timer that may have been used before.
func (w *writer) newTimer(d time.Duration) *time.Timer {
	if used, ok := w.timers.Get().(*time.Timer); ok {
		used.Reset(d)
		return used
	}
	return time.NewTimer(d)
}

// release ends the use of the timer. Since Go 1.23 a stopped timer sends nothing.
func (w *writer) release(t *time.Timer) {
	t.Stop()
	w.timers.Put(t)
}

func (w *writer) enqueue(ctx context.Context, t *ticket, late <-chan time.Time) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return ErrClosed
	}
	select {
	case w.queue <- t:
		return nil
	default:
	}
	select {
	case w.queue <- t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late:
		return unavailable(errTimeout)
	}
}

func unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }
