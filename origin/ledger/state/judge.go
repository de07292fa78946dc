package state

import (
	"context"
	"errors"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// Admissions and claims judge a request by the views, before any work: Admit
// before the body is read, Claim after it. A view that is not fresh enough is
// read again before it refuses a request.

// maxInProgress bounds the requests in progress of one account on one replica. maxWaiting bounds
// the requests that wait for the database to commit again, of all accounts.
const (
	maxInProgress = 1024
	maxWaiting    = 4096
	busyFor       = time.Second // RetryAfter of a request beyond such a bound
)

var errLateRefusal = errors.New("the rate limit refused this request after it began")

// An Admission is a request in progress, as the views know it.
type Admission struct {
	// Context is derived from the one given to Admit. It is cancelled if the database refuses
	// the request's token.
	Context      context.Context
	Account, Key int64
	Secret       book.Digest
	Policy       string // the name of the key's default policy when the request began
	Policies     int64  // how often the account's policies were changed by then
	Test         bool   // the key is a test key

	origin  string       // the header Origin
	account *accountView // *account and *key are guarded by Views.mu
	key     *keyView
	token   *token // nil if neither the account nor the key has a rate, and for a test key

	// Guarded by Views.mu.
	once    *Idempotency // registered in account.keysInUse
	claimed int64        // points claimed now, of account and key
	work    int64        // addresses of the claim, which unpaid work counts
	charged bool         // the charge is committed
	ended   bool         // End was called
}

// A judgement is what the views say of a request before it takes its token.
type judgement struct {
	Decision
	secret            *secretView // nil if the views have none
	instant           time.Time
	now               time.Time // at instant
	good              bool      // the key is good
	bucket, keyBucket int64     // after the request's token, if the Decision is Good
	stale             bool      // the view is missing or too old for the Decision: it is to be read
}

// judge judges key, rate and requests in progress. It is stale only if not final.
func (v *Views) judge(at book.Digest, origin string, final bool) (j judgement) {
	j.instant, j.secret = v.Clock.monotonic(), v.secrets[at]
	if j.secret == nil {
		j.Kind, j.stale = UnknownKey, !final
		return j
	}
	a, k := j.secret.account, j.secret.key
	j.now = v.Clock.at(j.instant)
	kind := j.secret.judge(j.now, origin)
	j.good = kind == Good
	var wait, keyWait time.Duration
	if k.test {
		j.bucket, wait = takeToken(a.freeBucket, j.now, j.now, book.FreeRate, jitterOf(book.FreeRate))
	} else {
		j.bucket, wait = takeToken(a.bucket, j.now, j.now, a.rate, jitterOf(a.rate))
		j.keyBucket, keyWait = takeToken(k.bucket, j.now, j.now, k.rate, jitterOf(k.rate))
	}
	wait = max(wait, keyWait)
	switch {
	case !j.good:
	case wait > 0:
		kind = RateLimited
	case a.inProgress >= maxInProgress:
		kind, wait = Busy, busyFor
	case !k.test && a.unpaid.over(j.instant):
		kind, wait = UnpaidWork, busyFor
	}
	j.Decision = Decision{Kind: kind}
	if j.good {
		j.Decision = a.decision(kind, wait)
	}
	if k.names(origin) {
		j.AllowOrigin = origin
	}
	age := j.secret.age(j.instant)
	j.stale = !final && (age > maxAccept || kind != Good && age > maxRefuse)
	return j
}

// Admit judges a request and takes its token, which is spent however the request ends. If the
// view is missing or too old for the decision, it is stale: the caller reads it, and calls Admit
// again with final set.
func (v *Views) Admit(ctx context.Context, at book.Digest, origin string, final bool) (
	r *Admission, d Decision, stale bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	j := v.judge(at, origin, final)
	if j.stale {
		return nil, j.Decision, true
	}
	if j.Kind == Good {
		a, k := j.secret.account, j.secret.key
		r = &Admission{Context: ctx, Account: a.ID, Key: k.ID, Secret: at, Policy: k.policy, Policies: a.policies,
			Test: k.test, origin: origin, account: a, key: k}
		switch {
		case k.test:
			a.freeBucket = j.bucket
		case a.rate != book.Unlimited || k.rate != book.Unlimited:
			a.bucket, k.bucket = j.bucket, j.keyBucket
			r.token = &token{arrival: j.instant, key: k, keyID: k.ID}
			r.Context, r.token.cancel = context.WithCancelCause(ctx)
			a.pending = append(a.pending, r.token)
			v.pending[a] = true
		}
		a.inProgress++
		v.inProgress++
	}
	if j.good {
		j.Quota = j.secret.quota(j.now)
	}
	return r, j.Decision, false
}

// A Peek is what the views say of a request that takes no token.
type Peek struct {
	Decision
	Account  int64 // 0 if the key is not good
	Forwards bool  // the key is a test key, or has a default policy
}

// Peek judges a request as Admit does, and takes no token. If free is set, a request with a good
// key takes one of the account's free requests.
func (v *Views) Peek(at book.Digest, origin string, free, final bool) (p Peek, stale bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	j := v.judge(at, origin, final)
	p.Decision = j.Decision
	if !j.good || j.stale {
		return p, j.stale
	}
	a, k := j.secret.account, j.secret.key
	p.Account, p.Forwards, p.Quota = a.ID, k.test || k.policy != "", j.secret.quota(j.now)
	if free {
		var wait time.Duration
		a.freeBucket, wait = takeToken(a.freeBucket, j.now, j.now, book.FreeRate, jitterOf(book.FreeRate))
		if wait > 0 {
			p = Peek{Decision: a.decision(RateLimited, wait)}
		}
	}
	return p, false
}

// judge rolls the rows to the month of now and judges the key; s is nil if there is no such
// secret.
func (s *secretView) judge(now time.Time, origin string) Kind {
	if s == nil {
		return UnknownKey
	}
	present := book.MonthOf(now)
	s.account.roll(present)
	s.key.roll(present)
	return s.key.judge(&s.account.Account, s.expires, now, origin)
}

func (a *accountView) decision(kind Kind, wait time.Duration) Decision {
	return a.Account.decision(kind, wait, a.claimed)
}

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
		q.Rate, q.Tokens = book.FreeRate, tokensLeft(a.freeBucket, now, book.FreeRate)
	}
	return q
}

// untilRefill returns the time until month m ends, but at least a second: a clock that was set
// back may be far before it.
func untilRefill(m book.Month, now time.Time) time.Duration {
	return max(time.Second, (m + 1).Begin().Sub(now))
}

// Inspect returns the usage and quota by the view, which the caller has just
// read.
func (v *Views) Inspect(r *Admission) Decision {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, now := v.secrets[r.Secret], v.Clock.Now()
	if kind := s.judge(now, r.origin); kind != Good {
		return Decision{Kind: kind}
	}
	d := r.account.decision(Good, 0)
	d.Quota = s.quota(now)
	return d
}

// RegisterKey registers the Idempotency-Key of a request in progress. It refuses
// the request if another one in progress on this replica has the same key.
func (v *Views) RegisterKey(r *Admission, once *Idempotency) Decision {
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

// JudgeRecord judges a request by its idempotency record, or nil for none, and
// by the view that was read with it.
func (v *Views) JudgeRecord(r *Admission, x *Record) Decision {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.Clock.Now()
	kind := v.secrets[r.Secret].judge(now, r.origin)
	switch a := r.account; {
	case kind != Good:
		return Decision{Kind: kind}
	case x != nil && now.UnixNano() < x.Expires:
		return x.replay(r.once, a.decision(Replayed, 0))
	case a.stored >= a.storedLimit:
		return a.decision(RecordsFull, busyFor)
	default:
		return a.decision(Good, 0)
	}
}

// Claim claims points for r, if the account and the key have them. Points
// claimed by other requests in progress on this replica count as used. stale and
// final are those of Admit.
func (v *Views) Claim(r *Admission, points int64, final bool) (d Decision, stale bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, now := v.secrets[r.Secret], v.Clock.Now()
	if kind := s.judge(now, r.origin); kind != Good {
		return Decision{Kind: kind}, s != nil && !final
	}
	a, k := r.account, r.key
	if max(a.shortfall(points, a.claimed), k.shortfall(points, k.claimed)) == 0 {
		a.claimed, k.claimed, r.claimed, r.work = a.claimed+points, k.claimed+points, points, points
		return a.decision(Good, 0), false
	}
	d = a.decision(Insufficient, untilRefill(a.month, now))
	d.Remaining = minLimit(d.Remaining, k.remaining(k.budget, k.claimed))
	if max(a.shortfall(points, 0), k.shortfall(points, 0)) == 0 {
		d.Kind, d.RetryAfter = Claimed, busyFor
	}
	return d, !final && s.age(v.Clock.monotonic()) > maxRefuse
}

// Claimed returns the points that the request may be charged. Only a ticket in progress changes
// them at the same time.
func (r *Admission) Claimed() int64 { return r.claimed }

// LateRefusal returns the refusal of the request's token by the database, if there was one.
func (v *Views) LateRefusal(r *Admission) (refusal Decision, refused bool) {
	if r.token == nil {
		return Decision{}, false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return r.account.decision(RateLimited, r.token.refused), r.token.refused > 0
}

// End releases what a request acquired. It tallies a request that was not
// charged and, if it is wasted or refused late, its unpaid work, but neither of a test key.
func (v *Views) End(r *Admission, succeeded, wasted bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	a, now := r.account, v.Clock.Now()
	a.roll(book.MonthOf(now)) // a row that a query has just published may be of an earlier month
	a.inProgress--
	v.inProgress--
	r.ended = true
	if !r.charged && !r.Test {
		t := book.Tally{Requests: 1}
		if !succeeded {
			t.Errors = 1
		}
		v.addTally(UsageAt{r.Account, r.Key, a.day(now)}, t)
		if wasted || r.token != nil && r.token.refused > 0 {
			a.unpaid.add(r.work, v.Clock.monotonic())
		}
	}
	r.release()
	if r.token != nil {
		r.token.cancel(nil)
	}
}

// release releases the claimed points and the Idempotency-Key of r. Views.mu is held.
func (r *Admission) release() {
	r.account.claimed -= r.claimed
	r.key.claimed -= r.claimed
	r.claimed = 0
	if r.once != nil {
		delete(r.account.keysInUse, r.once.ID)
		r.once = nil
	}
}

// BeginWait begins the wait of a request for the database, until end is called. end is nil if the
// request may not wait: only a secret with a view may, so nobody without a key holds a place, and
// an account has as many places as requests in progress.
func (v *Views) BeginWait(at book.Digest) (end func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.secrets[at]
	if s == nil || v.waiting >= maxWaiting || s.account.waiting+s.account.inProgress >= maxInProgress {
		return nil
	}
	v.waiting++
	s.account.waiting++
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.waiting--
		s.account.waiting--
	}
}
