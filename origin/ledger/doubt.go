package ledger

import "context"

// A doubt is a batch of which nobody knows whether it was committed: the
// connection was lost in that moment. Its callers were told that it failed.
// Before the writer does anything else it finds out, and then owes what was
// charged, or not given back.
type doubt struct {
	*inDoubt
	owed      int       // how many charges of the owed list the batch gave back
	committed []*charge // to give back if it was committed
	lost      []*charge // to give back if it was not
}

// newDoubt must be called while the tickets still carry their admissions.
func newDoubt(d *inDoubt, batch []*ticket, owed int) *doubt {
	return &doubt{inDoubt: d, owed: owed, committed: leftovers(batch), lost: chargesOf(batch)}
}

// chargesOf are the charges that the settlements in a batch should have ended.
func chargesOf(batch []*ticket) (list []*charge) {
	for _, t := range batch {
		if s, ok := t.op.(*settling); ok {
			list = append(list, s.charge)
		}
	}
	return list
}

// leftovers are what stays charged by a batch that was committed.
func leftovers(batch []*ticket) (list []*charge) {
	for _, t := range batch {
		if c := t.admission.charge; c != nil {
			list = append(list, c)
		}
		if s, ok := t.op.(*settling); ok && !s.Failed && t.err == nil {
			list = append(list, s.leftover())
		}
	}
	return list
}

// leftover is the charge without what the settlement gave back.
func (s *settling) leftover() *charge {
	c := s.charge
	return &charge{account: c.account, key: c.key, points: c.points - s.Refund,
		month: c.month, day: c.day, idempotency: c.idempotency, owner: c.owner}
}

// settleDoubt finds out about the batch before. Until it can, nothing else is done.
func (w *writer) settleDoubt() error {
	if w.doubt == nil {
		return nil
	}
	committed, err := w.doubt.inDoubt.committed(context.Background())
	if err != nil {
		return err
	}
	if committed {
		w.owed.paid(w.doubt.owed)
		w.owed.add(w.doubt.committed...)
	} else {
		w.owed.add(w.doubt.lost...)
	}
	w.doubt = nil
	return nil
}

// worst is what may be left to give back by a doubt that was not settled.
func (d *doubt) worst() []*charge {
	if d == nil {
		return nil
	}
	return append(d.committed, d.lost...)
}
