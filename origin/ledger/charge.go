package ledger

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// retention is the lifetime of an idempotency record.
const retention = 24 * time.Hour

// Idempotency identifies a request that a client may retry, by hashes only.
type Idempotency struct {
	ID   [32]byte // hash of the account and the Idempotency-Key
	Body [32]byte // hash of the request's body
}

// A record is an idempotency record: the stored response for an Idempotency-Key.
type record struct {
	body     [32]byte // hash of the body, as in Idempotency
	response []byte
	size     int64
	expires  int64 // Unix time in nanoseconds
}

// replay adds the stored response to the decision d, or turns d into
// IdempotencyMismatch if the body differs.
func (x *record) replay(once *Idempotency, d Decision) Decision {
	if subtle.ConstantTimeCompare(x.body[:], once.Body[:]) == 0 {
		d.Kind = IdempotencyMismatch
		return d
	}
	d.Response = x.response
	return d
}

// A recordID identifies a record within an account.
type recordID [32]byte

func (id recordID) hex() string { return hex.EncodeToString(id[:]) }

// A ticket is a charge on its way through the writer. Both the writer and the
// caller change its state:
//
//	waiting ◀─writer──▶ taken ──writer──▶ finished
//	   │                  └──caller──▶ abandoned
//	   └──caller──▶ withdrawn
//
// The writer moves a ticket back that it puts off, since nothing was committed.
// A withdrawn ticket is certainly not charged. A ticket abandoned after a
// transaction has taken it is charged if that transaction commits.
type ticket struct {
	request *Request
	Charge
	once     *Idempotency
	size     int64 // bytes of the response to store
	state    atomic.Int32
	putOff   atomic.Bool   // another session has locked the account
	ready    chan struct{} // closed when finished
	decision Decision
	err      error
	op       chargeOp // of the group that the ticket is in
}

const (
	waiting   = iota
	taken     // a transaction decides it
	withdrawn // the caller left before that
	abandoned // the caller left while the transaction was in progress
	finished
)

func (t *ticket) move(from, to int32) bool { return t.state.CompareAndSwap(from, to) }

// take moves a waiting ticket to taken and reports whether the transaction may
// charge it. A ticket that an earlier attempt of the group took may be charged.
func (t *ticket) take() bool { return t.move(waiting, taken) || t.state.Load() == taken }

// waits reports whether the caller still waits for a result.
func (t *ticket) waits() bool {
	s := t.state.Load()
	return s == waiting || s == taken
}

// finish gives the caller its result. It returns false if the caller has left.
func (t *ticket) finish(d Decision, err error) bool {
	t.decision, t.err = d, err
	if t.move(taken, finished) || t.move(waiting, finished) {
		close(t.ready)
		return true
	}
	return false
}

// waitLimit bounds the time that a request waits for the database, in all its
// steps together. Tests of slow databases shorten it, others lengthen it.
const waitLimit = time.Second

var (
	errTimeout = errors.New("it did not respond in time")
	errLocked  = errors.New("another replica, or an operator's session, has locked the account for too long")
)

// submit queues a ticket and waits for its result, for at most limit. It returns
// ErrUndecided if the limit passes while a transaction decides the ticket.
func (w *writer) submit(ctx context.Context, t *ticket, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	if err := w.enqueue(ctx, t, timer.C); err != nil {
		return err
	}
	return t.await(ctx.Done(), timer.C, ctx)
}

// await waits for the result. Once a transaction has taken the ticket, gone has
// no effect: the outcome is about to be known.
func (t *ticket) await(gone <-chan struct{}, late <-chan time.Time, ctx context.Context) error {
	select {
	case <-t.ready:
		return t.err
	case <-gone:
		if t.move(waiting, withdrawn) {
			return ctx.Err()
		}
		return t.await(nil, late, ctx)
	case <-late:
	}
	switch {
	case t.move(waiting, withdrawn):
		if t.putOff.Load() {
			return unavailable(errLocked)
		}
		return unavailable(errTimeout)
	case t.move(taken, abandoned):
		return ErrUndecided
	}
	<-t.ready
	return t.err
}

func (w *writer) enqueue(ctx context.Context, t *ticket, late <-chan time.Time) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return ErrClosed
	}
	select {
	case w.queue <- t:
		return nil
	default:
	}
	select {
	case w.queue <- t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late:
		return unavailable(errTimeout)
	}
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
		rs.records[c.record()] = false
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
		return Decision{Kind: UnknownKey}
	}
	if kind := k.judge(a, expires, ws.now, r.origin); kind != Good {
		return Decision{Kind: kind}
	}
	a.roll(ws.month)
	k.roll(ws.month)
	if r.token != nil && r.token.wait > 0 {
		return a.decision(RateLimited, r.token.wait, 0)
	}
	if d := c.checkRecord(ws, a); d.Kind != Good {
		return d
	}
	if a.shortfall(c.Points, 0) > 0 || k.shortfall(c.Points, 0) > 0 {
		d := a.decision(Insufficient, untilRefill(a.month, ws.now), 0)
		d.Remaining = minLimit(d.Remaining, k.remaining(0))
		return d
	}
	c.charge(ws, a, k)
	return a.decision(Good, 0, 0)
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
		return x.replay(c.once, a.decision(Replayed, 0, 0))
	case c.storesResponse() && a.stored+c.size > a.storedLimit:
		return a.decision(RecordsFull, busyFor, 0)
	}
	return Decision{}
}

func (c *chargeOp) charge(ws *workingSet, a *accountState, k *keyState) {
	a.charge(c.Points)
	k.charge(c.Points)
	c.month, c.day = a.month, a.day(ws.now)
	ws.addTally(c.usage(), Tally{Points: c.Points, Requests: 1, Found: c.Found})
	if c.storesResponse() {
		ws.putRecord(c.record(), &record{body: c.once.Body, response: c.Response, size: c.size,
			expires: ws.now.Add(retention).UnixNano()})
	}
}

// storesResponse reports whether a retry will find the response.
func (c *chargeOp) storesResponse() bool { return c.once != nil && c.Response != nil }

func (c *chargeOp) usage() usageKey { return usageKey{c.request.accountID, c.request.keyID, c.day} }

// settle returns the result to the caller. If the caller has abandoned the charge, it
// remains if a retry can find its response, and is voided otherwise.
func (c *chargeOp) settle(v *views) {
	if !c.taken {
		return
	}
	r := c.request
	r.charged = c.outcome.Kind == Good
	v.release(r)
	if r.charged && !r.ended {
		r.sending = c.writer.unsent[len(c.writer.unsent)-1] // of this group
		r.sending.left.Add(1)
	}
	if c.finish(c.outcome, nil) || !r.charged {
		return
	}
	if r.ended { // End counted it as a request that was not charged
		v.addTally(c.usage(), Tally{Requests: -1})
	} else {
		v.addTally(c.usage(), Tally{Errors: 1})
	}
	if !c.storesResponse() {
		c.writer.voids = append(c.writer.voids, c)
	}
}

// fail ends the charge. One of a locked account waits for another group, for what is left
// of its caller's second.
func (c *chargeOp) fail(err error) {
	if err == errLocked {
		c.putOff.Store(true)
		c.move(taken, waiting) // a write may have met the lock
		c.writer.putOff = append(c.writer.putOff, c.ticket)
		return
	}
	if errors.Is(err, store.ErrData) {
		c.writer.log.Error("a request cannot be charged: the database rejects its rows", "account", c.request.accountID, "error", err.Error())
		err = ErrRecord
	}
	c.finish(Decision{}, err)
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
	o.writer.stats.count(func(s *Stats) { s.Voided++ })
}

func (o *voidOp) fail(err error) {
	if errors.Is(err, store.ErrData) {
		o.writer.log.Error("a charge cannot be given back: the database rejects its rows",
			"account", o.charge.request.accountID, "points", o.charge.Points, "error", err.Error())
		o.settle(nil)
	}
}
