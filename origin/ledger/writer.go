package ledger

import (
	"context"
	"errors"
	"runtime"
	"time"
)

// Bounds of the writer.
const (
	queueLimit = 4096 // operations that wait
	batchLimit = 256  // operations committed together

	retryEvery = 250 * time.Millisecond // to give back what is owed
	purgeEvery = time.Minute
	purgeLimit = 1000 // idempotency keys forgotten at once
)

// The writer is the one goroutine that changes points. It takes what waits,
// decides it in one transaction and answers after the commit.
type writer struct {
	*Ledger
	retry *time.Ticker
	purge *time.Ticker
	doubt *doubt // of the batch before, or nil
}

func newWriter(l *Ledger) *writer {
	return &writer{Ledger: l, retry: time.NewTicker(retryEvery), purge: time.NewTicker(purgeEvery)}
}

func (w *writer) run() {
	defer close(w.done)
	defer w.retry.Stop()
	defer w.purge.Stop()
	for open := true; open; {
		select {
		case t, ok := <-w.queue:
			if open = ok; ok {
				w.commit(w.collect(t))
			}
		case <-w.retry.C:
			w.commit(nil)
		case <-w.purge.C:
			w.forget()
		}
	}
	w.commit(nil) // what is owed, for the last time
	w.owed.add(w.doubt.worst()...)
}

// collect takes what waits behind the first ticket, without waiting for more.
// It lets the callers that were answered just now ask again first, which fills
// the batch by half as much again and costs nothing when there are none.
func (w *writer) collect(first *ticket) []*ticket {
	runtime.Gosched()
	var batch []*ticket
	for t := first; t != nil; t = w.next(len(batch)) {
		if w.accept(t) {
			batch = append(batch, t)
		}
	}
	return batch
}

// next is a ticket that waits already, or nil when there is none or the batch is full.
func (w *writer) next(size int) *ticket {
	if size >= batchLimit {
		return nil
	}
	select {
	case t := <-w.queue: // nil when closed
		return t
	default:
		return nil
	}
}

// accept leaves out what its caller has left. Of an admission nothing remains;
// a settlement nobody waits for gives everything back.
func (w *writer) accept(t *ticket) bool {
	if t.take() {
		return true
	}
	if s, ok := t.op.(*settling); ok {
		w.owed.add(s.charge)
	}
	return false
}

// commit decides a batch in one transaction and then answers. A transaction
// that failed has charged nobody.
func (w *writer) commit(batch []*ticket) {
	if len(batch)+w.owed.len() == 0 && w.doubt == nil {
		return
	}
	begun := time.Now()
	err := w.transact(batch)
	w.stats.committed(len(batch), time.Since(begun), err)
	for _, t := range batch {
		w.answer(t, err)
	}
}

// transact settles the doubt of the batch before, decides what is owed, and
// then the batch. Settlements that fail leave their charges owed.
func (w *writer) transact(batch []*ticket) error {
	err := w.settleDoubt()
	if err != nil {
		w.owed.add(chargesOf(batch)...)
		return err
	}
	owed := w.owed.tickets()
	err = w.decide(append(owed, batch...))
	var lost *inDoubt
	switch {
	case err == nil:
		w.owed.paid(len(owed))
	case errors.As(err, &lost):
		w.doubt = newDoubt(lost, batch, len(owed))
	default:
		w.owed.add(chargesOf(batch)...)
	}
	return err
}

func (w *writer) decide(batch []*ticket) error {
	b := newBook(w.lease)
	return w.store.transact(context.Background(), b.reads(batch), func(now time.Time) ([]statement, error) {
		b.now = now
		for _, t := range batch {
			t.admission, t.err = t.op.decide(b)
		}
		return b.writes(), nil
	})
}

// answer wakes the caller of a ticket. What a caller that has left was charged is owed.
func (w *writer) answer(t *ticket, err error) {
	if err != nil {
		t.admission, t.err = Admission{}, unavailable(err)
	}
	if op, ok := t.op.(*admitting); ok && t.admission.Verdict == RateLimited {
		w.fence.raise(op.key, t.admission)
	}
	if c := t.admission.charge; !t.answer() && c != nil {
		w.owed.add(c)
	}
}

// forget purges answers that are past their time, and gives back what was
// charged for requests that outlived their lease: their process died. What
// fails here is done a minute later.
func (w *writer) forget() {
	w.commit(w.lapsed())
	_ = w.store.transact(context.Background(), nil, purge)
}

func purge(now time.Time) ([]statement, error) {
	return []statement{{name: "purge_holds", args: []any{now.UnixNano(), purgeLimit}}}, nil
}

func (w *writer) lapsed() (list []*ticket) {
	_ = w.store.query(context.Background(), statement{
		name: "list_lapsed", args: []any{w.now().UnixNano(), purgeLimit},
		scan: func(r row) error {
			op, id := &lapsing{}, ""
			if err := r.Scan(&op.account, &id); err != nil {
				return err
			}
			list = append(list, newTicket(op))
			return fromHex(op.id[:], id)
		},
	})
	return list
}
