package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// A ticket is a charge on its way through the writer. Its state says who may
// still decide about it:
//
//	waiting ──take──▶ taken ──answer──▶ answered
//	   │                └──walk──▶ walked
//	   └──leave──▶ left
//
// A caller who leaves while the ticket waits is not charged, and that is
// certain. Once a transaction has taken it, only the database knows.
type ticket struct {
	request *Request
	Charge
	once     *Idempotency
	size     int64 // of the answer to store
	state    atomic.Int32
	ready    chan struct{} // closed when answered
	decision Decision
	err      error
}

const (
	waiting   = iota
	taken     // by a transaction
	withdrawn // by the caller, before that
	abandoned // by the caller, while the transaction was under way
	answered  // by the writer
)

func newTicket(r *Request, c Charge) *ticket {
	return &ticket{request: r, Charge: c, once: r.once, size: int64(len(c.Answer)), ready: make(chan struct{})}
}

func (t *ticket) move(from, to int32) bool { return t.state.CompareAndSwap(from, to) }

// take reports whether the transaction may charge the ticket.
func (t *ticket) take() bool { return t.move(waiting, taken) || t.state.Load() == taken }

// answer wakes the caller; false when the caller has walked away.
func (t *ticket) answer(d Decision, err error) bool {
	t.decision, t.err = d, err
	if t.move(taken, answered) || t.move(waiting, answered) {
		close(t.ready)
		return true
	}
	return false
}

// patience is how long a request may wait for the database in all.
const waitLimit = time.Second

var errTimeout = errors.New("it did not answer in time")

// submit queues a ticket and waits for its answer, for at most patience.
func (w *writer) submit(ctx context.Context, t *ticket, patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	if err := w.enqueue(ctx, t, timer.C); err != nil {
		return err
	}
	return t.await(ctx.Done(), timer.C, ctx)
}

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
