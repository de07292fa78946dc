package ledger

import (
	"context"
	"errors"
	"time"
)

// A Request is one request under way, from Begin to End. It is not safe for
// concurrent use.
type Request struct {
	ledger *Ledger
	ctx    context.Context
	cancel context.CancelCauseFunc // nil without a token

	account          *accountView // *account and *key are guarded by views.mu
	key              *keyView
	accountID, keyID int64
	secret           digest
	origin           string // the header Origin
	token            *token // nil if neither the account nor the key has a rate

	refused bool          // after the work
	waited  time.Duration // time spent waiting for the database

	// Guarded by views.mu.
	once     *Idempotency // registered in account.keysInUse
	claimed  int64        // points claimed now, of account and key
	work     int64        // addresses of the claim, which unpaid work counts
	charged  bool         // the charge is committed
	replayed bool
	ended    bool // End was called
	sending  *sendingGroup
}

// errLateRefusal is the cause of a context cancelled by a late refusal.
var errLateRefusal = errors.New("the rate limit refused this request after it began")

// errPoints is returned for a defect of the caller.
var errPoints = errors.New("the points of a request are outside what it may claim or charge")

// maxClaim bounds the points of one request, so that sums cannot overflow.
const maxClaim = 1_000_000

// Account returns the ID of the request's account.
func (r *Request) Account() int64 { return r.accountID }

// Context returns a context derived from the one given to Begin. It is cancelled
// if the database refuses the request's token, because other replicas have taken
// the account's tokens meanwhile; Late then returns the refusal.
func (r *Request) Context() context.Context { return r.ctx }

// Late returns the refusal of the request's token by the database, if there was
// one.
func (r *Request) Late() (refusal Decision, refused bool) {
	if r.token == nil {
		return Decision{}, false
	}
	v := r.ledger.views
	v.mu.Lock()
	defer v.mu.Unlock()
	return r.account.decision(RateLimited, r.token.refused), r.token.refused > 0
}

// Claim judges the Idempotency-Key, which may be nil, and whether the account
// and the key have the points. If the verdict is Good, the points are claimed
// until Charge or End.
func (r *Request) Claim(points int64, once *Idempotency) (Decision, error) {
	if points < 0 || points > maxClaim || r.claimed > 0 {
		return Decision{}, errPoints
	}
	if once != nil {
		if d, err := r.findRecord(once); err != nil || d.Verdict != Good {
			return d, err
		}
	}
	d, stale := r.ledger.views.claim(r, points, false)
	if stale {
		if _, err := r.read(recordID{}); err != nil {
			return Decision{}, err
		}
		d, _ = r.ledger.views.claim(r, points, true)
	}
	return d, nil
}

// Inspect reads from the database what the account has used and returns it with
// the quota.
func (r *Request) Inspect() (Decision, error) {
	if _, err := r.read(recordID{}); err != nil {
		return Decision{}, err
	}
	return r.ledger.views.inspect(r), nil
}

// findRecord looks for another request with the same Idempotency-Key, first
// among those under way on this replica, then in the database. The same query
// reads the key, so a revoked key replays nothing.
func (r *Request) findRecord(once *Idempotency) (Decision, error) {
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

// waitLeft returns how long the request may still wait for the database: the
// rest of waitLimit, but at least a quarter of it, so that the charge gets some.
func (r *Request) waitLeft() time.Duration { return max(r.ledger.wait-r.waited, r.ledger.wait/4) }

// Charge decides key, token, idempotency record and points in one durable
// transaction. It waits for what is left of the request's second. With a verdict
// other than Good, or an error, nothing is charged; after ErrUndecided the
// outcome is unknown.
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

// WorkRefused records that the caller refused the request after its work, which
// counts as unpaid.
func (r *Request) WorkRefused() { r.refused = true }

// End releases what the request acquired. It is called once, after the answer is
// sent. Work that the client did not wait for, or that was refused afterwards,
// counts as unpaid.
func (r *Request) End() {
	_, late := r.Late()
	r.ledger.views.end(r, late || r.refused || r.ctx.Err() != nil)
	if r.cancel != nil {
		r.cancel(nil)
	}
}

// usageKey returns the key of the request's row in the usage history. views.mu
// is held.
func (r *Request) usageKey(now time.Time) usageKey {
	return usageKey{r.accountID, r.keyID, r.account.day(now)}
}

// A Verdict is the result of a step of a request. Verdicts are declared in order
// of precedence.
type Verdict uint8

// The verdicts.
const (
	Good                Verdict = iota
	UnknownKey                  // missing, malformed, unknown, expired, revoked, or of a suspended account
	WrongOrigin                 // the key is bound to browser origins, and the request has none of them
	RateLimited                 // the token bucket of the account or of the key is empty
	Busy                        // the account has too many requests under way on this replica
	UnpaidWork                  // the account left too much work unpaid on this replica
	IdempotencyMismatch         // an earlier request had this Idempotency-Key and another body
	IdempotencyConflict         // the first request with this Idempotency-Key is under way on this replica
	Replayed                    // charged before; Answer is the stored answer
	RecordsFull                 // the account's idempotency records take all the bytes its plan allows
	Insufficient                // too few points this month
	Claimed                     // requests under way have claimed the points that are missing
)

var verdicts = [...]string{"good", "unknown key", "wrong origin", "rate limited", "busy", "unpaid work", "idempotency mismatch",
	"idempotency conflict", "replayed", "records full", "insufficient points", "points claimed"}

func (v Verdict) String() string { return verdicts[v] }

// A Decision is the result of a step of a request, with what the account has
// used.
type Decision struct {
	Verdict Verdict
	// Usage is exact after a charge, else at most a second old. It is nil with
	// UnknownKey and WrongOrigin.
	Usage *Usage
	// Remaining is the number of the month's points that are neither used nor
	// claimed by requests under way: Unlimited, or 0 in overage.
	Remaining int64
	// RetryAfter is the time until there is a token (RateLimited) or until the
	// refill (Insufficient). It is a second with IdempotencyConflict, Busy,
	// UnpaidWork, RecordsFull and Claimed.
	RetryAfter time.Duration
	// Quota is set by Begin and Inspect, except with UnknownKey and WrongOrigin.
	Quota *Quota
	// AllowOrigin is set by Begin: the request's origin, if the key is bound to
	// it, else "". Only a page of this origin may read the answers.
	AllowOrigin string
	// Answer is the stored answer, with Replayed.
	Answer []byte
}

// Usage is what the account has used this month.
type Usage struct {
	Current int64
	Limit   int64 // or Unlimited
	Overage bool  // Current is beyond Limit, and the account may be
}

// Quota is what the key may still do within the limits of its account.
type Quota struct {
	Rate    int64         // requests a second, or Unlimited
	Tokens  int64         // requests that would be admitted now; Unlimited if Rate is
	Refill  time.Duration // until the month's points refill
	Overage bool          // points beyond the limit are allowed
}

// A Charge is what a finished request is charged.
type Charge struct {
	Points int64 // at most what was claimed
	Found  Found
	// Answer is stored for the request's Idempotency-Key to replay; nil stores
	// nothing.
	Answer []byte
}

// Found counts the results of the addresses charged.
type Found struct {
	Valid, Invalid            int64
	Disposable, Public, Relay int64
	Role, Gibberish, Typo     int64 // of the valid ones
	LookupErrors              int64 // MX look-ups that failed; these addresses are neither valid nor invalid
}
