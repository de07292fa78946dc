package ledger

import (
	"errors"
	"slices"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// An operation is a part of a commit group. Whatever happens to the group, one
// of settle and fail is called in the end, or the operation is made again for
// another group from what is left.
type operation interface {
	want(*wanted)  // what to load for it
	decide(*book)  // reads and changes the book alone; may be called again on another
	settle(*views) // after the commit, with views.mu held
	fail(error)    // it was not committed; an error that is store.ErrData concerns it alone
}

// charging charges a ticket.
type charging struct {
	*ticket
	writer  *writer
	verdict Decision
	used    bool // the group took the ticket
	month   month
	day     Day
}

func (c *charging) want(w *wanted) {
	r := c.request
	w.rows[wantedRow{r.accountID, r.keyID, r.secret}] = true
	if c.once != nil {
		w.records[c.record()] = true
	}
}

func (c *charging) record() recordKey { return recordKey{c.request.accountID, c.once.ID} }

func (c *charging) decide(b *book) {
	if c.used = c.take(); c.used {
		c.verdict = c.judge(b)
	}
}

// judge follows the contract's order: key, token, Idempotency-Key, points.
func (c *charging) judge(b *book) Decision {
	r := c.request
	a, k := b.accounts[r.accountID], b.keys[r.keyID]
	expires, known := b.secrets[r.secret]
	if a == nil || k == nil || !known || !k.good(a, expires, b.now) {
		return Decision{Verdict: UnknownKey}
	}
	a.roll(b.month)
	k.roll(b.month)
	if r.token != nil && r.token.wait > 0 {
		return a.decision(RateLimited, r.token.wait)
	}
	if d := c.recall(b, a); d.Verdict != Good {
		return d
	}
	if a.short(c.Points, 0) > 0 || k.short(c.Points, 0) > 0 {
		d := a.decision(Insufficient, untilRefill(a.month, b.now))
		d.Remaining = least(d.Remaining, k.remaining(0))
		return d
	}
	c.charge(b, a, k)
	return a.decision(Good, 0)
}

// recall finds the record of another request with the same Idempotency-Key,
// which was charged meanwhile, on another replica.
func (c *charging) recall(b *book, a *accountState) Decision {
	if c.once == nil {
		return Decision{}
	}
	x := b.records[c.record()]
	switch {
	case x != nil && b.now.UnixNano() < x.expires:
		return x.replay(c.once, a.decision(Replayed, 0))
	case c.stored() && a.stored+c.size > a.storable:
		return a.decision(RecordsFull, busyFor)
	}
	return Decision{}
}

func (c *charging) charge(b *book, a *accountState, k *keyState) {
	a.charge(c.Points)
	k.charge(c.Points)
	c.month, c.day = a.month, a.day(b.now)
	b.tally(c.usage(), Tally{Points: c.Points, Requests: 1, Found: c.Found})
	if c.stored() {
		b.keep(c.record(), &record{body: c.once.Body, answer: c.Answer, size: c.size,
			expires: b.now.Add(Retention).UnixNano()})
	}
}

// stored reports whether a retry will find the answer.
func (c *charging) stored() bool { return c.once != nil && c.Answer != nil }

func (c *charging) usage() usageKey { return usageKey{c.request.accountID, c.request.keyID, c.day} }

// settle answers the caller. A charge whose caller has walked away is kept if a
// retry can find its answer; otherwise it is voided.
func (c *charging) settle(v *views) {
	if !c.used {
		return
	}
	r := c.request
	r.replayed = r.replayed || c.verdict.Verdict == Replayed
	r.charged = c.verdict.Verdict == Good
	v.release(r)
	if r.charged && !r.left {
		r.sending = c.writer.unsent.add()
	}
	if c.answer(c.verdict, nil) || !r.charged {
		return
	}
	if r.left { // and was counted as a request that was not charged
		v.tally(c.usage(), Tally{Requests: -1})
	} else {
		v.tally(c.usage(), Tally{Errors: 1})
	}
	if !c.stored() {
		c.writer.voids = append(c.writer.voids, c)
	}
}

func (c *charging) fail(err error) {
	if errors.Is(err, store.ErrData) {
		c.writer.log.Error("a request cannot be charged: the database refuses its rows", "account", c.request.accountID, "error", err.Error())
		err = ErrRecord
	}
	c.answer(Decision{}, err)
}

// voiding gives a charge back.
type voiding struct {
	charge *charging
	writer *writer
}

func (o *voiding) want(w *wanted) {
	w.rows[wantedRow{account: o.charge.request.accountID, key: o.charge.request.keyID}] = true
}

func (o *voiding) decide(b *book) {
	c := o.charge
	a, k := b.accounts[c.request.accountID], b.keys[c.request.keyID]
	if a == nil {
		return
	}
	at, in := c.usage(), c.month
	if a.month < in { // reset since, and what was charged with it
		at.day, in = a.day(b.now), a.month
	}
	a.void(c.Points, in)
	if k != nil {
		k.void(c.Points, in)
		b.tally(at, Tally{Points: -c.Points, Found: Found{}.plus(c.Found, -1)})
	}
}

func (o *voiding) settle(*views) {
	o.writer.voids = slices.DeleteFunc(o.writer.voids, func(c *charging) bool { return c == o.charge })
	o.writer.stats.voided()
}

func (o *voiding) fail(err error) {
	if errors.Is(err, store.ErrData) {
		o.writer.log.Error("a charge cannot be given back: the database refuses its rows",
			"account", o.charge.request.accountID, "points", o.charge.Points, "error", err.Error())
		o.settle(nil)
	}
}

// posting enters the tokens of an account in the database's buckets.
type posting struct {
	account *accountView
	id      int64
	tokens  []*token // by arrival
	writer  *writer
}

func (o *posting) want(w *wanted) {
	for _, t := range o.tokens {
		w.rows[wantedRow{account: o.id, key: t.keyID}] = true
	}
}

func (o *posting) decide(b *book) {
	a := b.accounts[o.id]
	for _, t := range o.tokens {
		if k := b.keys[t.keyID]; a != nil && k != nil {
			t.wait = b.take(a, k, b.now.Add(t.arrival.Sub(b.instant)))
		}
	}
}

// take takes a token from the buckets of an account and a key, or from neither.
func (b *book) take(a *accountState, k *keyState, arrival time.Time) time.Duration {
	tat, wait := take(a.tat, arrival, b.now, a.rate, lateness)
	keyTAT, keyWait := take(k.tat, arrival, b.now, k.rate, lateness)
	if wait = max(wait, keyWait); wait > 0 {
		return wait
	}
	a.changed, k.changed = a.changed || tat != a.tat, k.changed || keyTAT != k.tat
	a.tat, k.tat = tat, keyTAT
	return 0
}

// settle takes the tokens off the list; what the database refused ends its
// request.
func (o *posting) settle(v *views) {
	o.account.tokens = slices.Clone(o.account.tokens[len(o.tokens):])
	if len(o.account.tokens) == 0 {
		delete(v.posting, o.account)
	}
	v.fold(o.account)
	for _, t := range o.tokens {
		if t.refused = t.wait; t.refused > 0 {
			t.request.cancel(errLate)
		}
	}
}

// fail drops tokens that cannot be entered at all; others wait for the next
// group.
func (o *posting) fail(err error) {
	if errors.Is(err, store.ErrData) {
		o.writer.views.mu.Lock()
		defer o.writer.views.mu.Unlock()
		for _, t := range o.tokens {
			t.wait = 0
		}
		o.settle(o.writer.views)
	}
}

// recording adds requests that were not charged to the usage history.
type recording struct {
	at     usageKey
	tally  Tally
	writer *writer
}

func (o *recording) want(w *wanted) { w.rows[wantedRow{account: o.at.account}] = true }

func (o *recording) decide(b *book) { b.tally(o.at, o.tally) }

func (o *recording) settle(*views) {}

func (o *recording) fail(err error) {
	if !errors.Is(err, store.ErrData) {
		o.again()
	}
}

// again puts the tally back for another group.
func (o *recording) again() {
	o.writer.views.mu.Lock()
	defer o.writer.views.mu.Unlock()
	o.writer.views.tally(o.at, o.tally)
}
