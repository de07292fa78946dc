package ledger

import (
	"context"
	"errors"
)

// A Settlement ends an admission.
type Settlement struct {
	// Refund is how many points to give back, of a request that was answered.
	Refund int64
	// Answer is what the idempotency key replays from now on, where one was sent.
	Answer []byte
	// Failed: the request was not answered with 200. All its points are given
	// back, and its idempotency key is free for a retry.
	Failed bool
}

var errRefund = errors.New("a refund is negative or above the charge")

// Settle ends an admission and returns the usage after it. When it fails, the
// answer must not go out: send a 503. The ledger then gives the whole charge
// back by itself as soon as the database takes it, and frees the idempotency
// key. An admission that was not charged has nothing to settle.
func (l *Ledger) Settle(ctx context.Context, a Admission, s Settlement) (Usage, error) {
	c := a.charge
	if c == nil {
		return a.Usage, nil
	}
	if s.Refund < 0 || s.Refund > c.points {
		return Usage{}, errRefund
	}
	if c.settled.Swap(true) {
		return Usage{}, ErrSettled
	}
	if !s.Failed && s.Refund == 0 && c.idempotency == nil {
		return a.Usage, nil
	}
	t := newTicket(&settling{charge: c, Settlement: s})
	if err := l.submit(ctx, t); err != nil {
		return Usage{}, err
	}
	return t.admission.Usage, t.err
}

// settling is a settlement under decision.
type settling struct {
	*charge
	Settlement
}

func (s *settling) want(w *wanted) {
	w.Accounts = append(w.Accounts, s.account)
	if s.idempotency != nil {
		w.Holds = append(w.Holds, wantedHold{Account: s.account, ID: toHex(s.idempotency[:])})
	}
}

func (s *settling) decide(b *book) (Admission, error) {
	a := b.accounts[s.account]
	if a == nil { // taken out of the database by hand
		return Admission{}, ErrNoAccount
	}
	a.roll(monthOf(b.now))
	if s.idempotency != nil {
		h := b.held(s.charge)
		if h == nil {
			return Admission{}, ErrLeaseLost
		}
		h.finish(s.Settlement)
	}
	s.giveBack(b, a)
	return Admission{Usage: a.usage()}, nil
}

// giveBack refunds the month and the line of the usage history that were charged.
func (s *settling) giveBack(b *book, a *account) {
	entry, refund := b.entry(usageKey{s.account, s.key, s.day}), s.Refund
	if s.Failed {
		refund = s.points
		entry.Errors++
	}
	entry.Points -= refund
	a.refund(refund, s.month)
}
