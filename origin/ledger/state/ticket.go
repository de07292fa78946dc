package state

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

const retention = 24 * time.Hour

// A Ticket is a charge on its way through the writer. Both the writer and the
// caller change its state:
//
//	waiting ──writer──▶ taken ──writer──▶ finished
//	   │                  └──caller──▶ abandoned
//	   └──caller──▶ withdrawn
//
// A withdrawn ticket is certainly not charged. A ticket abandoned after a
// transaction has taken it is charged if that transaction commits.
type Ticket struct {
	request *Admission
	charge  Charge
	once    *Idempotency
	state   atomic.Int32
	ready   chan struct{} // closed when finished

	// Used by the writer only.
	outcome Decision
	decided bool // the ticket was not withdrawn
	made    made // if outcome is Good

	// Set when finished.
	decision Decision
	err      error
}

const (
	waiting   = iota
	taken     // a transaction decides it
	withdrawn // the caller left before that
	abandoned // the caller left while the transaction was in progress
	finished
)

// NewTicket returns a ticket to charge a request.
func NewTicket(r *Admission, c Charge) *Ticket {
	return &Ticket{request: r, charge: c, once: r.once, ready: make(chan struct{})}
}

func (t *Ticket) move(from, to int32) bool { return t.state.CompareAndSwap(from, to) }

// Waits reports whether the caller still waits for a result.
func (t *Ticket) Waits() bool {
	s := t.state.Load()
	return s == waiting || s == taken
}

// finish gives the caller its result. It returns false if the caller has left.
func (t *Ticket) finish(d Decision, err error) bool {
	t.decision, t.err = d, err
	if t.move(taken, finished) || t.move(waiting, finished) {
		close(t.ready)
		return true
	}
	return false
}

// Refuse ends a ticket that no group will have.
func (t *Ticket) Refuse(err error) { t.finish(Decision{}, err) }

// Await waits for the result, until late with ErrLate or ErrUndecided. Once a transaction has taken
// the ticket, the end of ctx has no effect: the outcome is about to be known.
func (t *Ticket) Await(ctx context.Context, late <-chan time.Time) (Decision, error) {
	for gone := ctx.Done(); ; gone = nil {
		select {
		case <-t.ready:
			return t.decision, t.err
		case <-gone:
			if t.move(waiting, withdrawn) {
				return Decision{}, ctx.Err()
			}
			continue
		case <-late:
		}
		switch {
		case t.move(waiting, withdrawn):
			return Decision{}, ErrLate
		case t.move(taken, abandoned):
			return Decision{}, ErrUndecided
		}
		<-t.ready
		return t.decision, t.err
	}
}

// Name is for the log.
func (t *Ticket) Name() string { return "charge" }

// Account returns the ID of the account.
func (t *Ticket) Account() int64 { return t.request.Account }

// Size returns how many bytes of a response are to be stored.
func (t *Ticket) Size() int64 { return int64(len(t.charge.Response)) }

// AddNeeds adds the rows of the request, and its idempotency record.
func (t *Ticket) AddNeeds(n *Needs) {
	r := t.request
	n.Rows[RowAt{r.Account, r.Key, r.Secret}] = true
	if t.once != nil {
		n.Records[t.record()] = true
	}
}

func (t *Ticket) record() RecordAt { return RecordAt{t.request.Account, t.once.ID} }

func (t *Ticket) storesResponse() bool { return t.once != nil && t.charge.Response != nil }

// Decide takes the ticket, unless the caller has left, and decides it in the contract's order of
// precedence: key, token, Idempotency-Key, points. An earlier attempt may have taken it.
func (t *Ticket) Decide(rows *Rows) {
	t.decided = t.move(waiting, taken) || t.state.Load() == taken
	if !t.decided {
		return
	}
	r, c, size := t.request, t.charge, t.Size()
	a, k := rows.Accounts[r.Account], rows.Keys[r.Key]
	expires, known := rows.Secrets[r.Secret]
	kind := UnknownKey
	if a != nil && k != nil && known {
		kind = k.judge(a, expires, rows.Now, r.origin)
	}
	if kind != Good {
		t.outcome = Decision{Kind: kind}
		return
	}
	a.roll(book.MonthOf(rows.Now))
	k.roll(book.MonthOf(rows.Now))
	var x *Record
	if t.once != nil { // another replica may have charged a request with this key since Claim
		x = rows.Records[t.record()]
	}
	switch {
	case r.token != nil && r.token.wait > 0:
		t.outcome = a.decision(RateLimited, r.token.wait, 0)
	case x != nil && rows.Now.UnixNano() < x.Expires:
		t.outcome = x.replay(t.once, a.decision(Replayed, 0, 0))
	case t.storesResponse() && a.stored+size > a.storedLimit:
		t.outcome = a.decision(RecordsFull, busyFor, 0)
	case a.shortfall(c.Points, 0) > 0 || k.shortfall(c.Points, 0) > 0:
		t.outcome = a.decision(Insufficient, untilRefill(a.month, rows.Now), 0)
		t.outcome.Remaining = minLimit(t.outcome.Remaining, k.remaining(k.budget, 0))
	default:
		a.charge(c.Points)
		k.charge(c.Points)
		t.made = made{UsageAt{r.Account, r.Key, a.day(rows.Now)}, a.month, c.Points, c.Found}
		rows.addTally(t.made.at, book.Tally{Points: c.Points, Requests: 1, Found: c.Found})
		if t.storesResponse() {
			rows.putRecord(t.record(), &Record{Body: t.once.Body, Response: c.Response, Size: size,
				Expires: rows.Now.Add(retention).UnixNano()})
		}
		t.outcome = a.decision(Good, 0, 0)
	}
}

// settle returns the result to the caller. If the caller has abandoned the charge, it
// remains if a retry can find its response, and is voided otherwise.
func (t *Ticket) settle(v *Views) {
	if !t.decided {
		return
	}
	r := t.request
	r.charged = t.outcome.Kind == Good
	r.release()
	if t.finish(t.outcome, nil) || !r.charged {
		return
	}
	if r.ended { // End counted it as a request that was not charged
		v.addTally(t.made.at, book.Tally{Requests: -1})
	} else {
		v.addTally(t.made.at, book.Tally{Errors: 1})
	}
	if !t.storesResponse() {
		v.voids = append(v.voids, &t.made)
	}
}

func (t *Ticket) fail(_ *Views, err error) { t.finish(Decision{}, err) }
