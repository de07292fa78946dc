package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// A charge is what Settle needs to know of an admission.
type charge struct {
	account, key int64
	points       int64
	month        month
	day          Day
	idempotency  *[32]byte // the idempotency key held, or nil
	owner        string    // tells this holder from a later one
	settled      atomic.Bool
}

// maxCharge bounds one request's price, so that sums cannot overflow.
const maxCharge = 1_000_000

var errPoints = errors.New("a request's points are outside 0 to 1000000")

// Admit decides a request and charges it. An error is ErrUnavailable, ErrClosed
// or ctx's; nothing is charged then, or what was charged is given back.
//
// An admission that is not followed by an answer of the full price, or that
// holds an idempotency key, must be settled. The others may be left alone.
func (l *Ledger) Admit(ctx context.Context, r Request) (Admission, error) {
	if r.Points < 0 || r.Points > maxCharge {
		return Admission{}, errPoints
	}
	if !WellFormed(r.Key) {
		return Admission{Verdict: UnknownKey}, nil
	}
	key := digestOf(r.Key)
	if refusal, ok := l.fence.refuses(key); ok {
		l.stats.fenced()
		return refusal, nil
	}
	t := newTicket(&admitting{key: key, points: r.Points, idempotency: r.Idempotency})
	if err := l.submit(ctx, t); err != nil {
		return Admission{}, err
	}
	return t.admission, nil
}

// admitting is a request under decision.
type admitting struct {
	key         digest
	points      int64
	idempotency *Idempotency
}

func (r *admitting) want(w *wanted) {
	key := toHex(r.key[:])
	w.Keys = append(w.Keys, key)
	if r.idempotency != nil {
		w.Holds = append(w.Holds, wantedHold{Key: key, ID: toHex(r.idempotency.ID[:])})
	}
}

// decide goes through the precedence of the contract and books what follows.
func (r *admitting) decide(b *book) (Admission, error) {
	k := b.keys[r.key]
	if k == nil || k.revoked {
		return Admission{Verdict: UnknownKey}, nil
	}
	a := b.accounts[k.account]
	if a == nil { // the key was made after the accounts were read
		return Admission{Verdict: UnknownKey}, nil
	}
	a.roll(monthOf(b.now))
	if wait := a.takeToken(b.now); wait > 0 {
		return a.answer(Admission{Verdict: RateLimited, RetryAfter: wait}), nil
	}
	return a.answer(r.price(b, k, a)), nil
}

// price decides the idempotency key and the points of a request that has its token.
func (r *admitting) price(b *book, k *keyRow, a *account) Admission {
	entry := b.entry(usageKey{a.id, k.id, a.day(b.now)})
	entry.Requests++
	if r.points == 0 {
		entry.Errors++
		return Admission{}
	}
	if verdict, answer := b.recall(a, r.idempotency); verdict != Admitted {
		if verdict != Replayed {
			entry.Errors++
		}
		return Admission{Verdict: verdict, Replay: answer}
	}
	if !a.charge(r.points) {
		entry.Errors++
		refill := (a.month + 1).begin().Sub(b.now)
		return Admission{Verdict: Insufficient, RetryAfter: refill}
	}
	entry.Points += r.points
	c := &charge{account: a.id, key: k.id, points: r.points, month: a.month, day: a.day(b.now)}
	b.hold(r.idempotency, c)
	return Admission{charge: c}
}

func (a *account) answer(to Admission) Admission {
	to.Account, to.Usage, to.Remaining = a.id, a.usage(), a.remaining()
	return to
}

func unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }
