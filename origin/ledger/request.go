package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// A Request is one request in progress, from Begin to End. It is not safe for
// concurrent use.
type Request struct {
	*admission
	ledger    *Ledger
	refused   bool          // after the work
	succeeded bool          // it gets a 2xx
	waited    time.Duration // time spent waiting for the database
}

// Errors for a defect of the caller.
var (
	errPoints = errors.New("the points of a request are outside what it may claim or charge")
	errTest   = errors.New("a request with a test key claims no points")
)

// Begin judges the key, the rate and the number of the account's requests in
// progress. origin is the request's header Origin, "" if it has none. Begin is called
// before the request's body is read. If the decision is Good, it returns a Request,
// which the caller must End. Its errors wrap store.ErrUnavailable or are ctx's.
func (l *Ledger) Begin(ctx context.Context, secret, origin string) (*Request, Decision, error) {
	if !book.WellFormed(secret) {
		return nil, Decision{Kind: UnknownKey}, nil
	}
	at := book.DigestOf(secret)
	waited, err := l.writer.awaitCommits(ctx, at)
	if err != nil {
		return nil, Decision{}, err
	}
	admitted, d, stale := l.views.admit(ctx, at, origin, false)
	if stale {
		began := time.Now()
		if _, err := l.reader.read(ctx, at, recordID{}, l.waitLeft(waited)); err != nil {
			return nil, Decision{}, err
		}
		admitted, d, _ = l.views.admit(ctx, at, origin, true)
		waited += time.Since(began)
	}
	if admitted == nil {
		return nil, d, nil
	}
	return &Request{admission: admitted, ledger: l, waited: waited}, d, nil
}

// Peek judges a request as Begin does, and takes no token: nothing is counted and nothing has to
// be ended. It is for requests that only need a good key, at most freeRate a second. The account
// is 0 for a key that is not good, and beyond that.
func (l *Ledger) Peek(ctx context.Context, secret, origin string) (account int64, d Decision, err error) {
	j, err := l.peek(ctx, secret, origin, true)
	if j.good && err == nil {
		account = j.secret.account.id
	}
	return account, j.Decision, err
}

// Forwards reports whether an edge worker must forward the requests with a key, because the key
// is a test key or has a default policy. It is false for a request that Begin would refuse. It
// takes no token.
func (l *Ledger) Forwards(ctx context.Context, secret, origin string) bool {
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	j, err := l.peek(ctx, secret, origin, false)
	return err == nil && j.Kind == Good && j.forwards
}

func (l *Ledger) peek(ctx context.Context, secret, origin string, free bool) (j judgement, err error) {
	if !book.WellFormed(secret) {
		j.Kind = UnknownKey
		return j, nil
	}
	if err := l.writer.failing(); err != nil {
		return j, err
	}
	at := book.DigestOf(secret)
	j = l.views.peek(at, origin, free, false)
	if j.stale {
		if _, err := l.reader.read(ctx, at, recordID{}, l.wait); err != nil {
			return judgement{}, err
		}
		j = l.views.peek(at, origin, free, true)
	}
	return j, nil
}

// Policy returns the policy of the request's account with a name, as it was when the request
// began or later. "" is the key's default; if it has none, Policy returns nil. The error is
// ErrNoPolicy if there is no such policy; else it wraps store.ErrUnavailable or is that of the
// request's context. The policy is shared, so the caller must not change it.
func (r *Request) Policy(name string) (*SharedPolicy, error) {
	if name == "" {
		name = r.policy
	}
	if name == "" {
		return nil, nil
	}
	if book.CheckPolicyName(name) != nil {
		return nil, book.ErrNoPolicy
	}
	began := time.Now()
	defer func() { r.waited += time.Since(began) }()
	ctx, cancel := context.WithTimeout(r.ctx, r.waitLeft())
	defer cancel()
	p, err := r.ledger.policies.find(ctx, policyKey{r.accountID, name, r.policies})
	if err != nil && r.ctx.Err() != nil {
		err = r.ctx.Err()
	}
	return p, err
}

// Test reports whether the request has a test key. Then it is not charged: it must not
// Claim, and nothing of it reaches the database. It must Inspect before its work, since no
// charge judges the key again, which another replica may have revoked a moment ago.
func (r *Request) Test() bool { return r.test }

// Account returns the ID of the request's account.
func (r *Request) Account() int64 { return r.accountID }

// Context returns a context derived from the one given to Begin. It is cancelled
// if the database refuses the request's token, because other replicas have taken
// the account's tokens meanwhile; Late then returns the refusal.
func (r *Request) Context() context.Context { return r.ctx }

// Late returns the refusal of the request's token by the database, if there was
// one.
func (r *Request) Late() (refusal Decision, refused bool) {
	return r.ledger.views.lateRefusal(r.admission)
}

// maxClaim bounds the points of one request, so that sums cannot overflow.
const maxClaim = 1_000_000

// Claim judges the Idempotency-Key, which may be nil, and whether the account
// and the key have the points. If the decision is Good, the points are claimed
// until Charge or End.
func (r *Request) Claim(points int64, once *Idempotency) (Decision, error) {
	switch {
	case r.test:
		return Decision{}, errTest
	case points < 0 || points > maxClaim || r.claimed > 0:
		return Decision{}, errPoints
	}
	v := r.ledger.views
	if once != nil {
		if d := v.registerKey(r.admission, once); d.Kind != Good {
			return d, nil
		}
		x, err := r.read(once.ID) // reads the key as well, so a revoked key replays nothing
		if err != nil {
			return Decision{}, err
		}
		if d := v.judgeRecord(r.admission, x); d.Kind != Good {
			return d, nil
		}
	}
	d, stale := v.claim(r.admission, points, false)
	if stale {
		if _, err := r.read(recordID{}); err != nil {
			return Decision{}, err
		}
		d, _ = v.claim(r.admission, points, true)
	}
	return d, nil
}

// Inspect reads from the database what the account has used and returns it with
// the quota.
func (r *Request) Inspect() (Decision, error) {
	if _, err := r.read(recordID{}); err != nil {
		return Decision{}, err
	}
	return r.ledger.views.inspect(r.admission), nil
}

func (r *Request) read(id recordID) (*record, error) {
	began := time.Now()
	defer func() { r.waited += time.Since(began) }()
	return r.ledger.reader.read(r.ctx, r.secret, id, r.waitLeft())
}

// waitLeft returns how long a request that has waited may still wait for the database: the
// rest of waitLimit, but at least a quarter of it, so that the charge gets some.
func (l *Ledger) waitLeft(waited time.Duration) time.Duration { return max(l.wait-waited, l.wait/4) }

func (r *Request) waitLeft() time.Duration { return r.ledger.waitLeft(r.waited) }

// Charge decides key, token, idempotency record and points in one durable
// transaction. It waits for what is left of the request's second. With a decision
// other than Good, or an error, nothing is charged; after ErrUndecided the
// outcome is unknown.
func (r *Request) Charge(c Charge) (Decision, error) {
	if c.Points < 1 || c.Points > r.claimed { // claimed changes only while a ticket is in progress
		return Decision{}, errPoints
	}
	t := &ticket{request: r.admission, Charge: c, once: r.once, size: int64(len(c.Response)), ready: make(chan struct{})}
	err := r.ledger.writer.submit(r.ctx, t, r.waitLeft())
	if d, late := r.Late(); err != nil && late {
		return d, nil
	}
	if err != nil {
		return Decision{}, err
	}
	r.refused = t.decision.Kind != Good && t.decision.Kind != Replayed
	return t.decision, nil
}

// WorkRefused records that the caller refused the request after its work, which
// counts as unpaid.
func (r *Request) WorkRefused() { r.refused = true }

// Succeeded records that the response is a 2xx. A request that is not charged counts as
// an error of its key without it.
func (r *Request) Succeeded() { r.succeeded = true }

// End releases what the request acquired. It is called once, after the response is
// sent. Work that the client did not wait for, or that was refused afterwards,
// counts as unpaid.
func (r *Request) End() {
	_, late := r.Late()
	r.ledger.views.end(r.admission, r.succeeded, late || r.refused || r.ctx.Err() != nil)
	if r.cancel != nil {
		r.cancel(nil)
	}
}
