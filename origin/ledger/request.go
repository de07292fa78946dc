package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/state"
)

// A Request is one request in progress, from Begin to End. It is not safe for
// concurrent use.
type Request struct {
	admission *state.Admission
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
	return l.begin(ctx, book.DigestOf(secret), origin)
}

// BeginDashboard does the same for somebody who is signed in to an account. The request has the
// account's dashboard key, which BeginDashboard creates if the account has none.
func (l *Ledger) BeginDashboard(ctx context.Context, account int64) (*Request, Decision, error) {
	at := book.DashboardDigest(account)
	r, d, err := l.begin(ctx, at, "")
	if err != nil || d.Kind != UnknownKey {
		return r, d, err
	}
	err = l.CreateDashboardKey(ctx, account)
	if errors.Is(err, book.ErrNoAccount) {
		return nil, d, nil
	}
	if err != nil {
		return nil, Decision{}, err
	}
	return l.begin(ctx, at, "")
}

func (l *Ledger) begin(ctx context.Context, at book.Digest, origin string) (*Request, Decision, error) {
	waited, err := l.writer.AwaitCommits(ctx, at)
	if err != nil {
		return nil, Decision{}, err
	}
	admitted, d, stale := l.views.Admit(ctx, at, origin, false)
	if stale {
		began := time.Now()
		if _, err := l.reader.read(ctx, at, state.Hash{}, l.waitLeft(waited)); err != nil {
			return nil, Decision{}, err
		}
		admitted, d, _ = l.views.Admit(ctx, at, origin, true)
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
	p, err := l.peek(ctx, secret, origin, true)
	return p.Account, p.Decision, err
}

// Forwards reports whether an edge worker must forward the requests with a key, because the key
// is a test key or has a default policy. It is false for a request that Begin would refuse. It
// takes no token.
func (l *Ledger) Forwards(ctx context.Context, secret, origin string) bool {
	ctx, cancel := context.WithTimeout(ctx, l.timing.Wait)
	defer cancel()
	p, err := l.peek(ctx, secret, origin, false)
	return err == nil && p.Kind == Good && p.Forwards
}

func (l *Ledger) peek(ctx context.Context, secret, origin string, free bool) (state.Peek, error) {
	if !book.WellFormed(secret) {
		return state.Peek{Decision: Decision{Kind: UnknownKey}}, nil
	}
	if err := l.writer.Failing(); err != nil {
		return state.Peek{}, err
	}
	at := book.DigestOf(secret)
	p, stale := l.views.Peek(at, origin, free, false)
	if stale {
		if _, err := l.reader.read(ctx, at, state.Hash{}, l.timing.Wait); err != nil {
			return state.Peek{}, err
		}
		p, _ = l.views.Peek(at, origin, free, true)
	}
	return p, nil
}

// Policy returns the policy of the request's account with a name, as it was when the request
// began or later. "" is the key's default; if it has none, Policy returns nil. The error is
// ErrNoPolicy if there is no such policy; else it wraps store.ErrUnavailable or is that of the
// request's context. The policy is shared, so the caller must not change it.
func (r *Request) Policy(name string) (*SharedPolicy, error) {
	if name == "" {
		name = r.admission.Policy
	}
	if name == "" {
		return nil, nil
	}
	if book.CheckPolicyName(name) != nil {
		return nil, book.ErrNoPolicy
	}
	began := time.Now()
	defer func() { r.waited += time.Since(began) }()
	ctx, cancel := context.WithTimeout(r.admission.Context, r.waitLeft())
	defer cancel()
	p, err := r.ledger.policies.find(ctx, policyKey{r.admission.Account, name, r.admission.Policies})
	if err != nil && r.admission.Context.Err() != nil {
		err = r.admission.Context.Err()
	}
	return p, err
}

// Test reports whether the request has a test key. Then it is not charged: it must not
// Claim, and nothing of it reaches the database. It must Inspect before its work, since no
// charge judges the key again, which another replica may have revoked a moment ago.
func (r *Request) Test() bool { return r.admission.Test }

// Account returns the ID of the request's account.
func (r *Request) Account() int64 { return r.admission.Account }

// Context returns a context derived from the one given to Begin. It is cancelled
// if the database refuses the request's token, because other replicas have taken
// the account's tokens meanwhile; Late then returns the refusal.
func (r *Request) Context() context.Context { return r.admission.Context }

// Late returns the refusal of the request's token by the database, if there was
// one.
func (r *Request) Late() (refusal Decision, refused bool) {
	return r.ledger.views.LateRefusal(r.admission)
}

// maxClaim bounds the points of one request, so that sums cannot overflow.
const maxClaim = 1_000_000

// Claim judges the Idempotency-Key, which may be nil, and whether the account
// and the key have the points. If the decision is Good, the points are claimed
// until Charge or End.
func (r *Request) Claim(points int64, once *Idempotency) (Decision, error) {
	switch {
	case r.admission.Test:
		return Decision{}, errTest
	case points < 0 || points > maxClaim || r.admission.Claimed() > 0:
		return Decision{}, errPoints
	}
	v := r.ledger.views
	if once != nil {
		if d := v.RegisterKey(r.admission, once); d.Kind != Good {
			return d, nil
		}
		x, err := r.read(once.ID) // reads the key as well, so a revoked key replays nothing
		if err != nil {
			return Decision{}, err
		}
		if d := v.JudgeRecord(r.admission, x); d.Kind != Good {
			return d, nil
		}
	}
	d, stale := v.Claim(r.admission, points, false)
	if stale {
		if _, err := r.read(state.Hash{}); err != nil {
			return Decision{}, err
		}
		d, _ = v.Claim(r.admission, points, true)
	}
	return d, nil
}

// Inspect reads from the database what the account has used and returns it with
// the quota.
func (r *Request) Inspect() (Decision, error) {
	if _, err := r.read(state.Hash{}); err != nil {
		return Decision{}, err
	}
	return r.ledger.views.Inspect(r.admission), nil
}

func (r *Request) read(id state.Hash) (*state.Record, error) {
	began := time.Now()
	defer func() { r.waited += time.Since(began) }()
	return r.ledger.reader.read(r.admission.Context, r.admission.Secret, id, r.waitLeft())
}

// waitLeft returns how long a request that has waited may still wait for the database: the
// rest of its second, but at least a quarter of it, so that the charge gets some.
func (l *Ledger) waitLeft(waited time.Duration) time.Duration {
	return max(l.timing.Wait-waited, l.timing.Wait/4)
}

func (r *Request) waitLeft() time.Duration { return r.ledger.waitLeft(r.waited) }

// Charge decides key, token, idempotency record and points in one durable
// transaction. It waits for what is left of the request's second. With a decision
// other than Good, or an error, nothing is charged; after ErrUndecided the
// outcome is unknown.
func (r *Request) Charge(c Charge) (Decision, error) {
	if c.Points < 1 || c.Points > r.admission.Claimed() {
		return Decision{}, errPoints
	}
	d, err := r.ledger.writer.Charge(r.admission.Context, state.NewTicket(r.admission, c), r.waitLeft())
	if err != nil {
		if refusal, late := r.Late(); late {
			return refusal, nil
		}
		return Decision{}, err
	}
	r.refused = d.Kind != Good && d.Kind != Replayed
	return d, nil
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
	r.ledger.views.End(r.admission, r.succeeded, r.refused || r.admission.Context.Err() != nil)
}
