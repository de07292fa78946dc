package ledger

import (
	"context"
	"errors"
	"time"
)

// A Request is one request under way, from Begin to End. Its methods are
// called by one goroutine.
type Request struct {
	ledger *Ledger
	ctx    context.Context
	cancel context.CancelCauseFunc // nil without a token

	account          *accountView // guarded by views.mu, as what it points to is
	key              *keyView
	accountID, keyID int64
	secret           digest
	token            *token // nil where neither the account nor the key has a rate

	refused bool          // after the work
	waited  time.Duration // for the database

	// Guarded by views.mu.
	once     *Idempotency // registered in account.once
	claimed  int64        // points held in account and key
	work     int64        // that was claimed
	charged  bool         // and committed
	replayed bool
	ended    bool // End was called
	sending  *sendingGroup
}

// errLate is the cause that ends the context of a request refused late.
var errLateRefusal = errors.New("the rate limit refuses this request after all")

// errPoints is a defect of the caller.
var errPoints = errors.New("the points of a request are outside what it may claim or charge")

// maxPrice bounds one request's price, so that sums cannot overflow.
const maxClaim = 1_000_000

// Account is the ID of the account that asks.
func (r *Request) Account() int64 { return r.accountID }

// Context ends with the one given to Begin, or when the database refuses the
// request's token, since other replicas had given the account's tokens out:
// Late returns that refusal.
func (r *Request) Context() context.Context { return r.ctx }

// Late returns the refusal of the request's token, if there was one.
func (r *Request) Late() (refusal Decision, refused bool) {
	if r.token == nil {
		return Decision{}, false
	}
	v := r.ledger.views
	v.mu.Lock()
	defer v.mu.Unlock()
	return r.account.decision(RateLimited, r.token.refused), r.token.refused > 0
}

// Claim judges the Idempotency-Key, which may be nil, and the price. Good
// holds that many points until Charge or End. A price of 0 holds nothing.
func (r *Request) Claim(price int64, once *Idempotency) (Decision, error) {
	if price < 0 || price > maxClaim || r.claimed > 0 {
		return Decision{}, errPoints
	}
	if once != nil {
		if d, err := r.recall(once); err != nil || d.Verdict != Good {
			return d, err
		}
	}
	d, ask := r.ledger.views.claim(r, price, false)
	if ask {
		if _, err := r.read(recordID{}); err != nil {
			return Decision{}, err
		}
		d, _ = r.ledger.views.claim(r, price, true)
	}
	return d, nil
}

// Inspect asks the database for what the account has used and may still do.
func (r *Request) Inspect() (Decision, error) {
	if _, err := r.read(recordID{}); err != nil {
		return Decision{}, err
	}
	return r.ledger.views.inspect(r), nil
}

// recall looks for another request with the same Idempotency-Key: first among
// those under way on this replica, then in the database. One query reads the
// key as well, so that a revoked one replays nothing.
func (r *Request) recall(once *Idempotency) (Decision, error) {
	if d := r.ledger.views.registerKey(r, once); d.Verdict != Good {
		return d, nil
	}
	x, err := r.read(once.ID)
	if err != nil {
		return Decision{}, err
	}
	d := r.ledger.views.judgeRecord(r, x)
	r.replayed = d.Verdict == Replayed
	return d, nil
}

func (r *Request) read(id recordID) (*record, error) {
	began := time.Now()
	defer func() { r.waited += time.Since(began) }()
	return r.ledger.reader.read(r.ctx, r.secret, id, r.waitLeft())
}

// patience is how long the request may still wait for the database: a second
// in all, of which a quarter is left for the charge in any case.
func (r *Request) waitLeft() time.Duration { return max(waitLimit-r.waited, waitLimit/4) }

// Charge decides the request for good and stores everything in one durable
// transaction: key, token, idempotency record, points. It waits for what is left
// of the request's second. A verdict other than Good, or an error, charges nothing, except that
// after ErrUndecided nobody knows.
func (r *Request) Charge(c Charge) (Decision, error) {
	if c.Points < 1 || c.Points > r.claimed { // claimed changes only while a ticket is under way
		return Decision{}, errPoints
	}
	t := newTicket(r, c)
	err := r.ledger.writer.submit(r.ctx, t, r.waitLeft())
	if d, late := r.Late(); err != nil && late {
		return d, nil
	}
	if err != nil {
		return Decision{}, err
	}
	r.refused = t.decision.Verdict != Good && t.decision.Verdict != Replayed
	return t.decision, nil
}

// Waste says that the work of the request is refused, though not by the ledger:
// it counts as unpaid.
func (r *Request) WorkRefused() { r.refused = true }

// End frees what the request holds; it is called once the answer is sent. Work
// that the caller did not wait for, or that was refused only afterwards, counts
// as wasted.
func (r *Request) End() {
	_, late := r.Late()
	r.ledger.views.end(r, late || r.refused || r.ctx.Err() != nil)
	if r.cancel != nil {
		r.cancel(nil)
	}
}

// usageKey names the line of the usage history for the request; views.mu is held.
func (r *Request) usageKey(now time.Time) usageKey {
	return usageKey{r.accountID, r.keyID, r.account.day(now)}
}

// A Verdict is what became of a request. They are in order of precedence.
type Verdict uint8

// The verdicts.
const (
	Good                Verdict = iota
	UnknownKey                  // missing, malformed, never made, expired, revoked, or of a suspended account
	RateLimited                 // the token bucket of the account or of the key is empty
	Busy                        // the account has too many requests under way on this replica
	UnpaidWork                  // the account left too much work unpaid on this replica
	IdempotencyMismatch         // the Idempotency-Key came with another body before
	IdempotencyConflict         // the first request with this Idempotency-Key is under way on this replica
	Replayed                    // answered before: Answer is what was stored
	RecordsFull                 // the account's idempotency records take all the bytes its plan allows
	Insufficient                // too few points this month
	Claimed                     // enough points, but requests under way hold them
)

var verdicts = [...]string{"good", "unknown key", "rate limited", "busy", "wasteful", "idempotency mismatch",
	"idempotency conflict", "replayed", "records full", "insufficient points", "points claimed"}

func (v Verdict) String() string { return verdicts[v] }

// A Decision answers a step of a request.
type Decision struct {
	Verdict Verdict
	// Usage is exact after a charge and at most a second old otherwise; nil
	// with UnknownKey.
	Usage *Usage
	// Remaining is what is left of the month's points, those that requests
	// under way hold not counted; Unlimited, or 0 in overage.
	Remaining int64
	// RetryAfter is the time to a token (RateLimited) or to the refill
	// (Insufficient); a second with Busy, Wasteful, RecordsFull and Claimed.
	RetryAfter time.Duration
	// Quota is set by Begin and Inspect, except with UnknownKey.
	Quota *Quota
	// Answer is the stored answer (Replayed).
	Answer []byte
}

// Usage is what the account has used this month.
type Usage struct {
	Current int64
	Limit   int64 // or Unlimited
	Overage bool  // Current is beyond Limit, which the account may
}

// Quota is what the key may still do, the bounds of its account included.
type Quota struct {
	Rate    int64         // requests a second, or Unlimited
	Tokens  int64         // requests left at the moment; Unlimited where Rate is
	Refill  time.Duration // until the month's points refill
	Overage bool          // points beyond the limit are allowed
}

// A Charge is what a finished request costs.
type Charge struct {
	Points int64 // at most what was claimed
	Found  Found
	// Answer is what the request's Idempotency-Key replays from now on; nil
	// stores nothing.
	Answer []byte
}

// Found counts what the checks found at the addresses charged.
type Found struct {
	Valid, Invalid            int64
	Disposable, Public, Relay int64
	Role, Gibberish, Typo     int64 // of the valid ones
	LookupErrors              int64 // addresses whose MX look-up gave no answer: neither valid nor invalid
}
