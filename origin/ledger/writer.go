package ledger

import (
	"context"
	"errors"
	"time"
)

// Bounds of the writer.
const (
	queueLimit = 4096 // operations that wait
	batchLimit = 256  // operations committed together

	retryEvery = 250 * time.Millisecond // to give back what is owed
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
	var b *book
	reads := func() []statement {
		b = newBook(w.lease)
		return b.reads(batch)
	}
	return w.store.transact(context.Background(), reads, func(now time.Time) ([]statement, error) {
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
