package ledger

import (
	"context"
	"time"
)

// Admission and claims judge a request by the views, before any work: Begin
// before the body is read, Claim after it. A view that is not fresh enough is
// read again before it refuses a request.

// maxUnderWay bounds the requests under way of one account on one replica.
// busyFor is the RetryAfter of a request beyond such a bound.
const (
	maxUnderWay = 1024
	busyFor     = time.Second
)

// admit judges key, rate and requests under way. If the view is missing or too
// old to decide, stale is true: the caller reads it and calls admit again with
// final set.
func (v *views) admit(ctx context.Context, at digest, origin string, final bool) (r *Request, d Decision, stale bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	instant := v.clock.monotonic()
	s := v.secrets[at]
	if s == nil {
		return nil, Decision{Verdict: UnknownKey}, !final
	}
	age := v.age(s, instant)
	if !final && age > maxAccept {
		return nil, Decision{}, true
	}
	if r, d = v.judge(ctx, s, at, origin, instant); d.Usage != nil {
		d.Quota = s.quota(v.clock.at(instant))
	}
	if s.key.names(origin) {
		d.AllowOrigin = origin
	}
	return r, d, r == nil && !final && age > maxRefuse
}

func (v *views) judge(ctx context.Context, s *secretView, at digest, origin string, instant time.Time) (*Request, Decision) {
	now, a, k := v.clock.at(instant), s.account, s.key
	if verdict := v.judgeKey(s, now, origin); verdict != Good {
		return nil, Decision{Verdict: verdict}
	}
	bucket, wait := takeToken(a.bucket, now, now, a.rate, jitterOf(a.rate))
	keyBucket, keyWait := takeToken(k.bucket, now, now, k.rate, jitterOf(k.rate))
	switch wait = max(wait, keyWait); {
	case wait > 0:
		return nil, a.decision(RateLimited, wait)
	case a.underWay >= maxUnderWay:
		return nil, a.decision(Busy, busyFor)
	case a.unpaid.over(instant):
		return nil, a.decision(UnpaidWork, busyFor)
	}
	a.bucket, k.bucket = bucket, keyBucket
	return v.newRequest(ctx, s, at, origin, instant), a.decision(Good, 0)
}

// newRequest returns an admitted request. Its token is spent, however the
// request ends.
func (v *views) newRequest(ctx context.Context, s *secretView, at digest, origin string, instant time.Time) *Request {
	r := &Request{ctx: ctx, account: s.account, key: s.key, accountID: s.account.id, keyID: s.key.id, secret: at, origin: origin}
	if s.account.rate != Unlimited || s.key.rate != Unlimited {
		r.ctx, r.cancel = context.WithCancelCause(ctx)
		r.token = &token{arrival: instant, key: s.key, keyID: s.key.id, request: r}
		s.account.pending = append(s.account.pending, r.token)
		v.pending[s.account] = true
	}
	s.account.underWay++
	v.underWay++
	return r
}

// quota returns what the account and the key allow the next request.
func (s *secretView) quota(now time.Time) *Quota {
	a, k := s.account, s.key
	return &Quota{
		Rate:    minLimit(a.rate, k.rate),
		Tokens:  minLimit(tokensLeft(a.bucket, now, a.rate), tokensLeft(k.bucket, now, k.rate)),
		Refill:  untilRefill(a.month, now),
		Overage: a.overage,
	}
}

// registerKey registers the Idempotency-Key of a request under way. It refuses
// the request if another one under way on this replica has the same key.
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
	verdict := v.judgeKey(s, now, r.origin)
	switch a := r.account; {
	case verdict != Good:
		return Decision{Verdict: verdict}
	case x != nil && now.UnixNano() < x.expires:
		return x.replay(r.once, a.decision(Replayed, 0))
	case a.stored >= a.storedLimit:
		return a.decision(RecordsFull, busyFor)
	default:
		return a.decision(Good, 0)
	}
}

// inspect returns the usage and quota by the view, which the caller has just
// read.
func (v *views) inspect(r *Request) Decision {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, now := v.secrets[r.secret], v.clock.now()
	if verdict := v.judgeKey(s, now, r.origin); verdict != Good {
		return Decision{Verdict: verdict}
	}
	d := r.account.decision(Good, 0)
	d.Quota = s.quota(now)
	return d
}

// claim claims points for r, if the account and the key have them. Points
// claimed by other requests under way on this replica count as used. stale and
// final are those of admit.
func (v *views) claim(r *Request, points int64, final bool) (d Decision, stale bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.secrets[r.secret]
	if verdict := v.judgeKey(s, v.clock.now(), r.origin); verdict != Good {
		return Decision{Verdict: verdict}, s != nil && !final
	}
	a, k := r.account, r.key
	if max(a.shortfall(points, a.claimed), k.shortfall(points, k.claimed)) == 0 {
		a.claimed, k.claimed, r.claimed, r.work = a.claimed+points, k.claimed+points, points, points
		return a.decision(Good, 0), false
	}
	d = a.decision(Insufficient, untilRefill(a.month, v.clock.now()))
	d.Remaining = minLimit(d.Remaining, k.remaining(k.claimed))
	if max(a.shortfall(points, 0), k.shortfall(points, 0)) == 0 {
		d.Verdict, d.RetryAfter = Claimed, busyFor
	}
	return d, !final && v.age(s, v.clock.monotonic()) > maxRefuse
}

// untilRefill returns the time until month m ends, but at least a second: while
// the clock is suspect, now may be past the account's month.
func untilRefill(m month, now time.Time) time.Duration {
	return max(time.Second, (m + 1).begin().Sub(now))
}

// end releases what a request acquired. It tallies a request that was not
// charged and, if wasted, its unpaid work.
func (v *views) end(r *Request, wasted bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	a := r.account
	a.underWay--
	v.underWay--
	r.sending.sent()
	if r.ended = true; !r.charged {
		t := Tally{Requests: 1}
		if !r.replayed {
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

// Begin judges the key, the rate and the number of the account's requests under
// way. origin is the request's header Origin, "" if it has none. Begin is called
// before the request's body is read. If the verdict is Good, it returns a Request,
// which the caller must End. Its errors wrap ErrUnavailable or are ctx's.
func (l *Ledger) Begin(ctx context.Context, secret, origin string) (*Request, Decision, error) {
	if !WellFormed(secret) {
		return nil, Decision{Verdict: UnknownKey}, nil
	}
	if err := l.writer.failing(); err != nil {
		return nil, Decision{}, err
	}
	at, waited := digestOf(secret), time.Duration(0)
	r, d, stale := l.views.admit(ctx, at, origin, false)
	if stale {
		began := time.Now()
		if _, err := l.reader.read(ctx, at, recordID{}, l.wait); err != nil {
			return nil, Decision{}, err
		}
		r, d, _ = l.views.admit(ctx, at, origin, true)
		waited = time.Since(began)
	}
	if r != nil {
		r.ledger, r.waited = l, waited
	}
	return r, d, nil
}
