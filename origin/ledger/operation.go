package ledger

import (
	"errors"
	"slices"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// An operation is a part of a commit group. Each ends with a call of settle or
// fail, unless the group is retried: then what is still due becomes new
// operations.
type operation interface {
	addReads(*readSet)  // adds the rows it needs
	decide(*workingSet) // reads and changes only the working set; may run again on another
	settle(*views)      // runs after the commit, with views.mu held
	fail(error)         // runs if it was not committed; store.ErrData concerns this operation only
}

// A chargeOp charges a ticket.
type chargeOp struct {
	*ticket
	writer  *writer
	outcome Decision
	taken   bool // the ticket was not withdrawn
	month   month
	day     Day
}

func (c *chargeOp) addReads(rs *readSet) {
	r := c.request
	rs.rows[rowKey{r.accountID, r.keyID, r.secret}] = true
	if c.once != nil {
		rs.records[c.record()] = true
	}
}

func (c *chargeOp) record() recordKey { return recordKey{c.request.accountID, c.once.ID} }

func (c *chargeOp) decide(ws *workingSet) {
	if c.taken = c.take(); c.taken {
		c.outcome = c.judge(ws)
	}
}

// judge decides a charge in the contract's order of precedence: key, token,
// Idempotency-Key, points.
func (c *chargeOp) judge(ws *workingSet) Decision {
	r := c.request
	a, k := ws.accounts[r.accountID], ws.keys[r.keyID]
	expires, known := ws.secrets[r.secret]
	if a == nil || k == nil || !known {
		return Decision{Verdict: UnknownKey}
	}
	if verdict := k.judge(a, expires, ws.now, r.origin); verdict != Good {
		return Decision{Verdict: verdict}
	}
	a.roll(ws.month)
	k.roll(ws.month)
	if r.token != nil && r.token.wait > 0 {
		return a.decision(RateLimited, r.token.wait)
	}
	if d := c.checkRecord(ws, a); d.Verdict != Good {
		return d
	}
	if a.shortfall(c.Points, 0) > 0 || k.shortfall(c.Points, 0) > 0 {
		d := a.decision(Insufficient, untilRefill(a.month, ws.now))
		d.Remaining = minLimit(d.Remaining, k.remaining(0))
		return d
	}
	c.charge(ws, a, k)
	return a.decision(Good, 0)
}

// checkRecord looks for the record of a request with the same Idempotency-Key
// that another replica has charged since Claim.
func (c *chargeOp) checkRecord(ws *workingSet, a *accountState) Decision {
	if c.once == nil {
		return Decision{}
	}
	x := ws.records[c.record()]
	switch {
	case x != nil && ws.now.UnixNano() < x.expires:
		return x.replay(c.once, a.decision(Replayed, 0))
	case c.storesAnswer() && a.stored+c.size > a.storedLimit:
		return a.decision(RecordsFull, busyFor)
	}
	return Decision{}
}

func (c *chargeOp) charge(ws *workingSet, a *accountState, k *keyState) {
	a.charge(c.Points)
	k.charge(c.Points)
	c.month, c.day = a.month, a.day(ws.now)
	ws.addTally(c.usage(), Tally{Points: c.Points, Requests: 1, Found: c.Found})
	if c.storesAnswer() {
		ws.putRecord(c.record(), &record{body: c.once.Body, answer: c.Answer, size: c.size,
			expires: ws.now.Add(Retention).UnixNano()})
	}
}

// storesAnswer reports whether a retry will find the answer.
func (c *chargeOp) storesAnswer() bool { return c.once != nil && c.Answer != nil }

func (c *chargeOp) usage() usageKey { return usageKey{c.request.accountID, c.request.keyID, c.day} }

// settle answers the caller. If the caller has abandoned the charge, it remains
// if a retry can find its answer, and is voided otherwise.
func (c *chargeOp) settle(v *views) {
	if !c.taken {
		return
	}
	r := c.request
	r.replayed = r.replayed || c.outcome.Verdict == Replayed
	r.charged = c.outcome.Verdict == Good
	v.release(r)
	if r.charged && !r.ended {
		r.sending = c.writer.unsent.add()
	}
	if c.answer(c.outcome, nil) || !r.charged {
		return
	}
	if r.ended { // End counted it as a request that was not charged
		v.addTally(c.usage(), Tally{Requests: -1})
	} else {
		v.addTally(c.usage(), Tally{Errors: 1})
	}
	if !c.storesAnswer() {
		c.writer.voids = append(c.writer.voids, c)
	}
}

func (c *chargeOp) fail(err error) {
	if errors.Is(err, store.ErrData) {
		c.writer.log.Error("a request cannot be charged: the database rejects its rows", "account", c.request.accountID, "error", err.Error())
		err = ErrRecord
	}
	c.answer(Decision{}, err)
}

// A voidOp gives a charge back.
type voidOp struct {
	charge *chargeOp
	writer *writer
}

func (o *voidOp) addReads(rs *readSet) {
	rs.rows[rowKey{account: o.charge.request.accountID, key: o.charge.request.keyID}] = true
}

func (o *voidOp) decide(ws *workingSet) {
	c := o.charge
	a, k := ws.accounts[c.request.accountID], ws.keys[c.request.keyID]
	if a == nil {
		return
	}
	at, in := c.usage(), c.month
	if a.month < in { // an operator has reset the account, which moved the charge
		at.day, in = a.day(ws.now), a.month
	}
	a.void(c.Points, in)
	if k != nil {
		k.void(c.Points, in)
		ws.addTally(at, Tally{Points: -c.Points, Found: Found{}.plus(c.Found, -1)})
	}
}

func (o *voidOp) settle(*views) {
	o.writer.voids = slices.DeleteFunc(o.writer.voids, func(c *chargeOp) bool { return c == o.charge })
	o.writer.stats.void()
}

func (o *voidOp) fail(err error) {
	if errors.Is(err, store.ErrData) {
		o.writer.log.Error("a charge cannot be given back: the database rejects its rows",
			"account", o.charge.request.accountID, "points", o.charge.Points, "error", err.Error())
		o.settle(nil)
	}
}

// A tokenOp takes an account's pending tokens from the buckets in the database.
type tokenOp struct {
	account *accountView
	id      int64
	tokens  []*token // by arrival
	writer  *writer
}

func (o *tokenOp) addReads(rs *readSet) {
	for _, t := range o.tokens {
		rs.rows[rowKey{account: o.id, key: t.keyID}] = true
	}
}

func (o *tokenOp) decide(ws *workingSet) {
	a := ws.accounts[o.id]
	for _, t := range o.tokens {
		if k := ws.keys[t.keyID]; a != nil && k != nil {
			t.wait = ws.takeTokens(a, k, ws.now.Add(t.arrival.Sub(ws.instant)))
		}
	}
}

// takeTokens takes a token from the buckets of both an account and its key and
// returns 0, or takes none and returns the time until both have one.
func (ws *workingSet) takeTokens(a *accountState, k *keyState, arrival time.Time) time.Duration {
	tat, wait := takeToken(a.tat, arrival, ws.now, a.rate, lateness)
	keyTAT, keyWait := takeToken(k.tat, arrival, ws.now, k.rate, lateness)
	if wait = max(wait, keyWait); wait > 0 {
		return wait
	}
	a.changed, k.changed = a.changed || tat != a.tat, k.changed || keyTAT != k.tat
	a.tat, k.tat = tat, keyTAT
	return 0
}

// announce records in the view what the group writes, since a query may read it before
// the group is published.
func (o *tokenOp) announce(ws *workingSet) {
	if a := ws.accounts[o.id]; a != nil {
		o.account.writing = commitment{len(o.tokens), a.tat}
	}
}

// forget ends what announce began.
func (o *tokenOp) forget() { o.account.writing, o.account.counted = commitment{}, 0 }

// settle removes the tokens from the pending ones and cancels the requests whose
// tokens were refused.
func (o *tokenOp) settle(v *views) {
	o.forget()
	o.account.pending = slices.Clone(o.account.pending[len(o.tokens):])
	if len(o.account.pending) == 0 {
		delete(v.pending, o.account)
	}
	v.applyPending(o.account)
	for _, t := range o.tokens {
		if t.refused = t.wait; t.refused > 0 {
			t.request.cancel(errLateRefusal)
		}
	}
}

// fail drops the tokens if the database rejects the account's rows. Otherwise
// they stay pending for the next group.
func (o *tokenOp) fail(err error) {
	o.writer.views.mu.Lock()
	defer o.writer.views.mu.Unlock()
	o.forget()
	if errors.Is(err, store.ErrData) {
		for _, t := range o.tokens {
			t.wait = 0
		}
		o.settle(o.writer.views)
	}
}

// A tallyOp adds requests that were not charged to the usage history.
type tallyOp struct {
	at     usageKey
	tally  Tally
	writer *writer
}

func (o *tallyOp) addReads(rs *readSet) {
	rs.rows[rowKey{account: o.at.account, key: o.at.key}] = true
}

// decide drops the tally if the account or the key was deleted since the request:
// the row would refer to nothing, and the database would reject the whole group.
func (o *tallyOp) decide(ws *workingSet) {
	if ws.accounts[o.at.account] != nil && ws.keys[o.at.key] != nil {
		ws.addTally(o.at, o.tally)
	}
}

func (o *tallyOp) settle(*views) {}

func (o *tallyOp) fail(err error) {
	if !errors.Is(err, store.ErrData) {
		o.requeue()
	}
}

// requeue returns the tally to the views, for another group.
func (o *tallyOp) requeue() {
	o.writer.views.mu.Lock()
	defer o.writer.views.mu.Unlock()
	o.writer.views.addTally(o.at, o.tally)
}
