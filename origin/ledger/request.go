package ledger

import (
	"context"
	"errors"
	"time"
)

// A Request is one request in progress, from Begin to End. It is not safe for
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
	policy           string // the name of the key's default policy when the request began
	policies         int64  // how often the account's policies were changed by then
	token            *token // nil if neither the account nor the key has a rate, and for a test key
	test             bool   // the key is a test key

	refused   bool          // after the work
	succeeded bool          // it gets a 2xx
	waited    time.Duration // time spent waiting for the database

	// Guarded by views.mu.
	once    *Idempotency // registered in account.keysInUse
	claimed int64        // points claimed now, of account and key
	work    int64        // addresses of the claim, which unpaid work counts
	charged bool         // the charge is committed
	ended   bool         // End was called
	sending *sendingGroup
}

// errLateRefusal is the cause of a context cancelled by a late refusal.
var errLateRefusal = errors.New("the rate limit refused this request after it began")

// Errors for a defect of the caller.
var (
	errPoints = errors.New("the points of a request are outside what it may claim or charge")
	errTest   = errors.New("a request with a test key claims no points")
)

// Begin judges the key, the rate and the number of the account's requests in
// progress. origin is the request's header Origin, "" if it has none. Begin is called
// before the request's body is read. If the decision is Good, it returns a Request,
// which the caller must End. Its errors wrap ErrUnavailable or are ctx's.
func (l *Ledger) Begin(ctx context.Context, secret, origin string) (*Request, Decision, error) {
	if !WellFormed(secret) {
		return nil, Decision{Kind: UnknownKey}, nil
	}
	at := digestOf(secret)
	waited, err := l.writer.awaitCommits(ctx, at)
	if err != nil {
		return nil, Decision{}, err
	}
	r, d, stale, err := l.views.admit(ctx, at, origin, false)
	if stale {
		began := time.Now()
		if _, err := l.reader.read(ctx, at, recordID{}, l.waitLeft(waited)); err != nil {
			return nil, Decision{}, err
		}
		r, d, _, err = l.views.admit(ctx, at, origin, true)
		waited += time.Since(began)
	}
	if r != nil {
		r.ledger, r.waited = l, waited
	}
	return r, d, err
}

// Admission and claims judge a request by the views, before any work: Begin
// before the body is read, Claim after it. A view that is not fresh enough is
// read again before it refuses a request.

// maxInProgress bounds the requests in progress of one account on one replica.
// busyFor is the RetryAfter of a request beyond such a bound.
const (
	maxInProgress = 1024
	busyFor       = time.Second
)

// admit judges key, rate and requests in progress. If the view is missing or too
// old to decide, stale is true: the caller reads it and calls admit again with
// final set. The error is that of an account that another session has locked for long.
func (v *views) admit(ctx context.Context, at digest, origin string, final bool) (r *Request, d Decision, stale bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	instant := v.clock.monotonic()
	s := v.secrets[at]
	if s == nil {
		return nil, Decision{Kind: UnknownKey}, !final, nil
	}
	age := v.age(s, instant)
	if !final && age > maxAccept {
		return nil, Decision{}, true, nil
	}
	if v.refusesLocked(s.account.id) && v.judgeKey(s, v.clock.at(instant), origin) == Good {
		return nil, Decision{}, false, unavailable(errLocked)
	}
	if r, d = v.judge(ctx, s, at, origin, instant); d.Usage != nil {
		d.Quota = s.quota(v.clock.at(instant))
	}
	if s.key.names(origin) {
		d.AllowOrigin = origin
	}
	return r, d, r == nil && !final && age > maxRefuse, nil
}

func (v *views) judge(ctx context.Context, s *secretView, at digest, origin string, instant time.Time) (*Request, Decision) {
	bucket, keyBucket, d := v.peek(s, origin, instant)
	if d.Kind != Good {
		return nil, d
	}
	if s.key.test {
		s.account.freeBucket = bucket
	} else {
		s.account.bucket, s.key.bucket = bucket, keyBucket
	}
	return v.newRequest(ctx, s, at, origin, instant), d
}

// peek judges a request and returns the buckets after its token, which it does not take.
func (v *views) peek(s *secretView, origin string, instant time.Time) (bucket, keyBucket int64, d Decision) {
	now, a, k := v.clock.at(instant), s.account, s.key
	if kind := v.judgeKey(s, now, origin); kind != Good {
		return 0, 0, Decision{Kind: kind}
	}
	if k.test {
		bucket, d = a.peekTest(now)
		return bucket, 0, d
	}
	bucket, wait := takeToken(a.bucket, now, now, a.rate, jitterOf(a.rate))
	keyBucket, keyWait := takeToken(k.bucket, now, now, k.rate, jitterOf(k.rate))
	switch wait = max(wait, keyWait); {
	case wait > 0:
		return 0, 0, a.decision(RateLimited, wait)
	case a.inProgress >= maxInProgress:
		return 0, 0, a.decision(Busy, busyFor)
	case a.unpaid.over(instant):
		return 0, 0, a.decision(UnpaidWork, busyFor)
	}
	return bucket, keyBucket, a.decision(Good, 0)
}

// freeRate is how many requests that cost nothing an account may send to a replica in a
// second: those with test keys, and those that Peek judges. They take no tokens of the account,
// so tests cannot slow its other requests.
const freeRate = 100

// peekTest is peek for a request with a test key. Its bucket is in memory only. The request
// takes one of the account's slots, since those bound memory.
func (a *accountView) peekTest(now time.Time) (bucket int64, d Decision) {
	bucket, wait := takeToken(a.freeBucket, now, now, freeRate, jitterOf(freeRate))
	switch {
	case wait > 0:
		return 0, a.decision(RateLimited, wait)
	case a.inProgress >= maxInProgress:
		return 0, a.decision(Busy, busyFor)
	}
	return bucket, a.decision(Good, 0)
}

// takeFree takes one of an account's free requests. If there is none, it returns the refusal.
func (v *views) takeFree(account int64) (d Decision, refused bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	a := v.accounts[account]
	if a == nil {
		return d, false
	}
	now, wait := v.clock.now(), time.Duration(0)
	if a.freeBucket, wait = takeToken(a.freeBucket, now, now, freeRate, jitterOf(freeRate)); wait > 0 {
		return a.decision(RateLimited, wait), true
	}
	return d, false
}

// newRequest returns an admitted request. Its token is spent, however the
// request ends.
func (v *views) newRequest(ctx context.Context, s *secretView, at digest, origin string, instant time.Time) *Request {
	r := &Request{ctx: ctx, account: s.account, key: s.key, accountID: s.account.id, keyID: s.key.id, secret: at, origin: origin,
		policy: s.key.policy, policies: s.account.policies, test: s.key.test}
	if !r.test && (s.account.rate != Unlimited || s.key.rate != Unlimited) {
		r.ctx, r.cancel = context.WithCancelCause(ctx)
		r.token = &token{arrival: instant, key: s.key, keyID: s.key.id, request: r}
		s.account.pending = append(s.account.pending, r.token)
		v.pending[s.account] = true
	}
	s.account.inProgress++
	v.inProgress++
	return r
}

// quota returns what the account and the key allow the next request.
func (s *secretView) quota(now time.Time) *Quota {
	a, k := s.account, s.key
	q := &Quota{
		Rate:    minLimit(a.rate, k.rate),
		Tokens:  minLimit(tokensLeft(a.bucket, now, a.rate), tokensLeft(k.bucket, now, k.rate)),
		Refill:  untilRefill(a.month, now),
		Overage: a.overage,
		Policy:  k.policy,
	}
	if k.test {
		q.Rate, q.Tokens = freeRate, tokensLeft(a.freeBucket, now, freeRate)
	}
	return q
}

// Peek judges a request as Begin does, and takes no token: nothing is counted and nothing has to
// be ended. It is for requests that only need a good key, at most freeRate a second. The account
// is 0 for a key that is not good, and beyond that.
func (l *Ledger) Peek(ctx context.Context, secret, origin string) (account int64, d Decision, err error) {
	p, err := l.peek(ctx, secret, origin)
	if p.account == 0 {
		return 0, p.decision, err
	}
	if d, refused := l.views.takeFree(p.account); refused {
		return 0, d, nil
	}
	return p.account, p.decision, err
}

// Forwards reports whether an edge worker must forward the requests with a key, because the key
// is a test key or has a default policy. It is false for a request that Begin would refuse. It
// takes no token.
func (l *Ledger) Forwards(ctx context.Context, secret, origin string) bool {
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	p, err := l.peek(ctx, secret, origin)
	return err == nil && p.decision.Kind == Good && p.forwards
}

// A peeked request is one that was judged without its token.
type peeked struct {
	decision Decision
	account  int64 // 0 for a key that is not good
	forwards bool  // a test key, or one with a default policy
}

func (l *Ledger) peek(ctx context.Context, secret, origin string) (peeked, error) {
	if !WellFormed(secret) {
		return peeked{decision: Decision{Kind: UnknownKey}}, nil
	}
	if err := l.writer.failing(); err != nil {
		return peeked{}, err
	}
	at := digestOf(secret)
	p, stale := l.views.peekAt(at, origin)
	if stale {
		if _, err := l.reader.read(ctx, at, recordID{}, l.wait); err != nil {
			return peeked{}, err
		}
		p, _ = l.views.peekAt(at, origin)
	}
	return p, nil
}

// peekAt judges a request by the views. If the view is missing or too old to decide, stale is
// true.
func (v *views) peekAt(at digest, origin string) (p peeked, stale bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	instant := v.clock.monotonic()
	s := v.secrets[at]
	if s == nil {
		return peeked{decision: Decision{Kind: UnknownKey}}, true
	}
	age := v.age(s, instant)
	if _, _, p.decision = v.peek(s, origin, instant); v.judgeKey(s, v.clock.at(instant), origin) == Good {
		p.account, p.forwards = s.account.id, s.key.test || s.key.policy != ""
	}
	if p.decision.Usage != nil {
		p.decision.Quota = s.quota(v.clock.at(instant))
	}
	if s.key.names(origin) {
		p.decision.AllowOrigin = origin
	}
	return p, age > maxAccept || p.decision.Kind != Good && age > maxRefuse
}

// Policy returns the policy of the request's account with a name, as it was when the request
// began or later. "" is the key's default; if it has none, Policy returns nil. The error is
// ErrNoPolicy if there is no such policy; else it wraps ErrUnavailable or is that of the
// request's context. The policy is shared, so the caller must not change it.
func (r *Request) Policy(name string) (*Policy, error) {
	if name == "" {
		name = r.policy
	}
	if name == "" {
		return nil, nil
	}
	if CheckPolicyName(name) != nil {
		return nil, ErrNoPolicy
	}
	began := time.Now()
	defer func() { r.waited += time.Since(began) }()
	ctx, cancel := context.WithTimeout(r.ctx, r.waitLeft())
	defer cancel()
	p, err := r.ledger.policies.find(ctx, policyKey{r.accountID, name}, r.policies)
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
	if r.token == nil {
		return Decision{}, false
	}
	v := r.ledger.views
	v.mu.Lock()
	defer v.mu.Unlock()
	return r.account.decision(RateLimited, r.token.refused), r.token.refused > 0
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
	if once != nil {
		if d, err := r.findRecord(once); err != nil || d.Kind != Good {
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

// findRecord looks for another request with the same Idempotency-Key, first
// among those in progress on this replica, then in the database. The same query
// reads the key, so a revoked key replays nothing.
func (r *Request) findRecord(once *Idempotency) (Decision, error) {
	if d := r.ledger.views.registerKey(r, once); d.Kind != Good {
		return d, nil
	}
	x, err := r.read(once.ID)
	if err != nil {
		return Decision{}, err
	}
	return r.ledger.views.judgeRecord(r, x), nil
}

// registerKey registers the Idempotency-Key of a request in progress. It refuses
// the request if another one in progress on this replica has the same key.
func (v *views) registerKey(r *Request, once *Idempotency) Decision {
	v.mu.Lock()
	defer v.mu.Unlock()
	body, taken := r.account.keysInUse[once.ID]
	switch {
	case !taken:
		r.account.keysInUse[once.ID] = once.Body
		r.once = once
		return r.account.decision(Good, 0)
	case body != once.Body:
		return r.account.decision(IdempotencyMismatch, 0)
	}
	return r.account.decision(IdempotencyConflict, busyFor)
}

// judgeRecord judges a request by its idempotency record, or nil for none, and
// by the view that was read with it.
func (v *views) judgeRecord(r *Request, x *record) Decision {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, now := v.secrets[r.secret], v.clock.now()
	kind := v.judgeKey(s, now, r.origin)
	switch a := r.account; {
	case kind != Good:
		return Decision{Kind: kind}
	case x != nil && now.UnixNano() < x.expires:
		return x.replay(r.once, a.decision(Replayed, 0))
	case a.stored >= a.storedLimit:
		return a.decision(RecordsFull, busyFor)
	default:
		return a.decision(Good, 0)
	}
}

// claim claims points for r, if the account and the key have them. Points
// claimed by other requests in progress on this replica count as used. stale and
// final are those of admit.
func (v *views) claim(r *Request, points int64, final bool) (d Decision, stale bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.secrets[r.secret]
	if kind := v.judgeKey(s, v.clock.now(), r.origin); kind != Good {
		return Decision{Kind: kind}, s != nil && !final
	}
	a, k := r.account, r.key
	if max(a.shortfall(points, a.claimed), k.shortfall(points, k.claimed)) == 0 {
		a.claimed, k.claimed, r.claimed, r.work = a.claimed+points, k.claimed+points, points, points
		return a.decision(Good, 0), false
	}
	d = a.decision(Insufficient, untilRefill(a.month, v.clock.now()))
	d.Remaining = minLimit(d.Remaining, k.remaining(k.claimed))
	if max(a.shortfall(points, 0), k.shortfall(points, 0)) == 0 {
		d.Kind, d.RetryAfter = Claimed, busyFor
	}
	return d, !final && v.age(s, v.clock.monotonic()) > maxRefuse
}

// untilRefill returns the time until month m ends, but at least a second: while
// the clock is suspect, now may be past the account's month.
func untilRefill(m month, now time.Time) time.Duration {
	return max(time.Second, (m + 1).begin().Sub(now))
}

// Inspect reads from the database what the account has used and returns it with
// the quota.
func (r *Request) Inspect() (Decision, error) {
	if _, err := r.read(recordID{}); err != nil {
		return Decision{}, err
	}
	return r.ledger.views.inspect(r), nil
}

// inspect returns the usage and quota by the view, which the caller has just
// read.
func (v *views) inspect(r *Request) Decision {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, now := v.secrets[r.secret], v.clock.now()
	if kind := v.judgeKey(s, now, r.origin); kind != Good {
		return Decision{Kind: kind}
	}
	d := r.account.decision(Good, 0)
	d.Quota = s.quota(now)
	return d
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
	t := &ticket{request: r, Charge: c, once: r.once, size: int64(len(c.Response)), ready: make(chan struct{})}
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
	r.ledger.views.end(r, late || r.refused || r.ctx.Err() != nil)
	if r.cancel != nil {
		r.cancel(nil)
	}
}

// end releases what a request acquired. It tallies a request that was not
// charged and, if wasted, its unpaid work, but neither of a test key.
func (v *views) end(r *Request, wasted bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	a := r.account
	a.inProgress--
	v.inProgress--
	if r.sending != nil {
		r.sending.left.Add(-1)
	}
	if r.ended = true; !r.charged && !r.test {
		t := Tally{Requests: 1}
		if !r.succeeded {
			t.Errors = 1
		}
		v.addTally(r.usageKey(v.clock.now()), t)
		if wasted {
			a.unpaid.add(r.work, v.clock.monotonic())
		}
	}
	v.release(r)
}

// release releases the claimed points and the Idempotency-Key of r.
func (v *views) release(r *Request) {
	r.account.claimed -= r.claimed
	r.key.claimed -= r.claimed
	if r.claimed = 0; r.once != nil {
		delete(r.account.keysInUse, r.once.ID)
		r.once = nil
	}
}

// usageKey returns the key of the request's row in the usage history. views.mu
// is held.
func (r *Request) usageKey(now time.Time) usageKey {
	return usageKey{r.accountID, r.keyID, r.account.day(now)}
}
