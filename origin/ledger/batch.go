package ledger

import "runtime"

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
