package ledger

import (
	"context"
	"time"
)

const (
	purgeEvery = time.Minute
	purgeLimit = 1000 // idempotency keys forgotten at once
)

// forget purges answers that are past their time, and gives back what was
// charged for requests that outlived their lease: their process died. What
// fails here is done a minute later.
func (w *writer) forget() {
	w.commit(w.lapsed())
	_ = w.store.transact(context.Background(), noReads, purge)
}

func purge(now time.Time) ([]statement, error) {
	return []statement{{name: "purge_holds", args: []any{now.UnixNano(), purgeLimit}}}, nil
}

func (w *writer) lapsed() (list []*ticket) {
	_ = w.store.query(context.Background(), statement{
		name: "list_lapsed", args: []any{w.clock().UnixNano(), purgeLimit},
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

// lapsing expels a holder that nobody has asked about since.
type lapsing holdKey

func (l *lapsing) want(w *wanted) {
	w.Accounts = append(w.Accounts, l.account)
	w.Holds = append(w.Holds, wantedHold{Account: l.account, ID: toHex(l.id[:])})
}

func (l *lapsing) decide(b *book) (Admission, error) {
	a, h := b.accounts[l.account], b.holds[holdKey(*l)]
	if a != nil && h != nil && !h.dropped && h.lapsed(b.now) {
		b.expel(a, h)
	}
	return Admission{}, nil
}
