package ledger

import "sync"

// owed lists charges whose callers were told that they failed, or were told
// nothing. They are given back with the next transaction that succeeds. The
// list is bounded by the requests that were under way when the database went
// away, since nothing is charged while it is.
type owed struct {
	mu      sync.Mutex
	charges []*charge
}

func (o *owed) add(charges ...*charge) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.charges = append(o.charges, charges...)
}

// tickets are the settlements that give back what is owed now, oldest first.
func (o *owed) tickets() []*ticket {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := make([]*ticket, len(o.charges))
	for i, c := range o.charges {
		list[i] = newTicket(&settling{charge: c, Settlement: Settlement{Failed: true}})
	}
	return list
}

// paid strikes the n oldest off the list.
func (o *owed) paid(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.charges = append([]*charge(nil), o.charges[n:]...)
}

func (o *owed) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.charges)
}
