package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// Admissions and claims judge a request by the views, before any work: Begin
// before the body is read, Claim after it. A view that is not fresh enough is
// read again before it refuses a request.

// maxInProgress bounds the requests in progress of one account on one replica.
// busyFor is the RetryAfter of a request beyond such a bound.
const (
	maxInProgress = 1024
	busyFor       = time.Second
)

// errLateRefusal is the cause of a context cancelled by a late refusal.
var errLateRefusal = errors.New("the rate limit refused this request after it began")

// An admission is a request in progress, as the views know it.
type admission struct {
	ctx    context.Context
	cancel context.CancelCauseFunc // nil without a token

	account          *accountView // *account and *key are guarded by views.mu
	key              *keyView
	accountID, keyID int64
	secret           book.Digest
	origin           string // the header Origin
	policy           string // the name of the key's default policy when the request began
	policies         int64  // how often the account's policies were changed by then
	token            *token // nil if neither the account nor the key has a rate, and for a test key
	test             bool   // the key is a test key

	// Guarded by views.mu.
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
	good              bool  // the key is good
	forwards          bool  // it is a test key, or has a default policy
	bucket, keyBucket int64 // after the request's token, if the Decision is Good
	stale             bool  // the view is missing or too old for the Decision: it is to be read
}

// judge judges key, rate and requests in progress. It is stale only if not final.
func (v *views) judge(at book.Digest, origin string, final bool) (j judgement) {
	j.instant, j.secret = v.clock.monotonic(), v.secrets[at]
	if j.secret == nil {
		j.Kind, j.stale = UnknownKey, !final
		return j
	}
	a, k, now := j.secret.account, j.secret.key, v.clock.at(j.instant)
	kind := v.judgeKey(j.secret, now, origin)
	j.good, j.forwards = kind == Good, k.test || k.policy != ""
	var wait, keyWait time.Duration
	if k.test {
		j.bucket, wait = takeToken(a.freeBucket, now, now, book.FreeRate, jitterOf(book.FreeRate))
	} else {
		j.bucket, wait = takeToken(a.bucket, now, now, a.rate, jitterOf(a.rate))
		j.keyBucket, keyWait = takeToken(k.bucket, now, now, k.rate, jitterOf(k.rate))
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

// admit judges a request and takes its token, which is spent however the request
// ends.
func (v *views) admit(ctx context.Context, at book.Digest, origin string, final bool) (r *admission, d Decision, stale bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	j := v.judge(at, origin, final)
	if j.stale {
		return nil, j.Decision, true
	}
	if j.Kind == Good {
		a, k := j.secret.account, j.secret.key
		r = &admission{ctx: ctx, account: a, key: k, accountID: a.id, keyID: k.id, secret: at, origin: origin,
			policy: k.policy, policies: a.policies, test: k.test}
		switch {
		case k.test:
			a.freeBucket = j.bucket
		case a.rate != book.Unlimited || k.rate != book.Unlimited:
			a.bucket, k.bucket = j.bucket, j.keyBucket
			r.ctx, r.cancel = context.WithCancelCause(ctx)
			r.token = &token{arrival: j.instant, key: k, keyID: k.id, cancel: r.cancel}
			a.pending = append(a.pending, r.token)
			v.pending[a] = true
		}
		a.inProgress++
		v.inProgress++
	}
	v.addQuota(&j)
	return r, j.Decision, false
}

// peek judges a request as admit does, and takes no token. If free is set, a request with a good
// key takes one of the account's free requests.
func (v *views) peek(at book.Digest, origin string, free, final bool) judgement {
	v.mu.Lock()
	defer v.mu.Unlock()
	j := v.judge(at, origin, final)
	v.addQuota(&j)
	if free && j.good && !j.stale {
		a, now := j.secret.account, v.clock.at(j.instant)
		bucket, wait := takeToken(a.freeBucket, now, now, book.FreeRate, jitterOf(book.FreeRate))
		a.freeBucket = bucket
		if wait > 0 {
			j.Decision, j.good = a.decision(RateLimited, wait), false
		}
	}
	return j
}

// addQuota adds the quota to the decision about a good key.
func (v *views) addQuota(j *judgement) {
	if j.good {
		j.Quota = j.secret.quota(v.clock.at(j.instant))
	}
}

// judgeKey rolls the rows to the month of now and judges the key; s is nil if
// there is no such secret.
func (v *views) judgeKey(s *secretView, now time.Time, origin string) Kind {
	if s == nil {
		return UnknownKey
	}
	present := book.MonthOf(now)
	s.account.roll(present)
	s.key.roll(present)
	return s.key.judge(&s.account.accountState, s.expires, now, origin)
}

// decision returns a decision with the account's usage, in which claimed points
// do not remain.
func (a *accountView) decision(kind Kind, wait time.Duration) Decision {
	return a.accountState.decision(kind, wait, a.claimed)
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
		q.Rate, q.Tokens = book.FreeRate, tokensLeft(a.freeBucket, now, book.FreeRate)
	}
	return q
}

// untilRefill returns the time until month m ends, but at least a second: a clock that was set
// back may be far before it.
func untilRefill(m book.Month, now time.Time) time.Duration {
	return max(time.Second, (m + 1).Begin().Sub(now))
}

// inspect returns the usage and quota by the view, which the caller has just
// read.
func (v *views) inspect(r *admission) Decision {
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

// registerKey registers the Idempotency-Key of a request in progress. It refuses
// the request if another one in progress on this replica has the same key.
func (v *views) registerKey(r *admission, once *Idempotency) Decision {
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
func (v *views) judgeRecord(r *admission, x *record) Decision {
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
func (v *views) claim(r *admission, points int64, final bool) (d Decision, stale bool) {
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
	return d, !final && s.age(v.clock.monotonic()) > maxRefuse
}

// lateRefusal returns the refusal of the request's token by the database, if there was one.
func (v *views) lateRefusal(r *admission) (refusal Decision, refused bool) {
	if r.token == nil {
		return Decision{}, false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return r.account.decision(RateLimited, r.token.refused), r.token.refused > 0
}

// end releases what a request acquired. It tallies a request that was not
// charged and, if wasted, its unpaid work, but neither of a test key.
func (v *views) end(r *admission, succeeded, wasted bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	a, now := r.account, v.clock.now()
	a.roll(book.MonthOf(now)) // a row that a query has just published may be of an earlier month
	a.inProgress--
	v.inProgress--
	r.ended = true
	if !r.charged && !r.test {
		t := book.Tally{Requests: 1}
		if !succeeded {
			t.Errors = 1
		}
		v.addTally(usageKey{r.accountID, r.keyID, a.day(now)}, t)
		if wasted {
			a.unpaid.add(r.work, v.clock.monotonic())
		}
	}
	v.release(r)
}

// release releases the claimed points and the Idempotency-Key of r.
func (v *views) release(r *admission) {
	r.account.claimed -= r.claimed
	r.key.claimed -= r.claimed
	r.claimed = 0
	if r.once != nil {
		delete(r.account.keysInUse, r.once.ID)
		r.once = nil
	}
}
