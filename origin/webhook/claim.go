package webhook

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// sending is the status of a delivery while an attempt runs. Its lease ends at the
// time of the next attempt.
const sending = "being sent"

// A hook is the row of an account's webhook.
type hook struct {
	account, rotated, disabled, created int64
	url, secret, previous               string
}

func (h *hook) scan(r store.Row) error {
	return r.Scan(&h.url, &h.secret, &h.previous, &h.rotated, &h.disabled, &h.created)
}

// lock returns the statement that locks the webhook's row and reads it. After
// that, statements see what other replicas have committed under the lock.
func (h *hook) lock() store.Statement {
	return store.Statement{Name: "lock_webhook", Args: []any{h.account}, Scan: h.scan}
}

// secrets are those that sign at now, the newest first.
func (h *hook) secrets(now time.Time) []string {
	if h.previous != "" && now.UnixNano()-h.rotated < int64(bothSign) {
		return []string{h.secret, h.previous}
	}
	return []string{h.secret}
}

// An attempt is a delivery that this replica has claimed.
type attempt struct {
	hook
	id, body string
	percent  int64
	number   int64     // 1 is the first
	began    time.Time // by this machine's clock, before the claim
	time     time.Time // of the claim, by the database's clock
	spent    bool      // all attempts were made, and the last one's process died: nothing is sent
}

// claim returns the account's next delivery that is due, with a lease, or nil if
// there is none or another replica is sending to the account.
func (s *Sender) claim(ctx context.Context, account int64) (*attempt, error) {
	a, open := &attempt{began: time.Now()}, []delivery(nil)
	reads := func() []store.Statement {
		a.hook, open = hook{account: account}, nil
		return []store.Statement{a.lock(), {Name: "read_open_deliveries", Args: []any{account}, Scan: func(r store.Row) error {
			d := delivery{}
			err := r.Scan(&d.id, &d.month, &d.percent, &d.body, &d.created, &d.next, &d.attempts, &d.status)
			open = append(open, d)
			return err
		}}}
	}
	found := false
	err := s.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		d := nextDue(open, now.UnixNano())
		if found = d != nil && a.url != "" && a.disabled == 0; !found {
			return nil, nil
		}
		return a.take(d, now, s), nil
	})
	if err != nil || !found {
		return nil, err
	}
	return a, nil
}

// nextDue returns the first delivery that is due, or nil if there is none or one
// is being sent.
func nextDue(open []delivery, now int64) (due *delivery) {
	for i := range open {
		d := &open[i]
		if d.next > now && d.status == sending {
			return nil
		}
		if d.next <= now && due == nil {
			due = d
		}
	}
	return due
}

// take returns the statement that claims d.
func (a *attempt) take(d *delivery, now time.Time, s *Sender) []store.Statement {
	a.id, a.body, a.percent, a.time = d.id, d.body, d.percent, now
	a.number = d.attempts + 1
	a.spent = a.number > int64(len(s.Retries)+1)
	return []store.Statement{{Name: "claim_delivery", Args: []any{d.id, s.leaseEnd(now), a.number, sending}}}
}

// leaseEnd returns the end of a lease that begins at now.
func (s *Sender) leaseEnd(now time.Time) int64 { return now.Add(s.Timeout + s.Lease).UnixNano() }
