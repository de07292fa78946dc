package ledger

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
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
//	waiting ──writer──▶ taken ──writer──▶ finished
//	   │                  └──caller──▶ abandoned
//	   └──caller──▶ withdrawn
//
// A withdrawn ticket is certainly not charged. A ticket abandoned after a
// transaction has taken it is charged if that transaction commits.
type ticket struct {
	request *admission
	Charge
	once     *Idempotency
	size     int64 // bytes of the response to store
	state    atomic.Int32
	ready    chan struct{} // closed when finished
	decision Decision
	err      error
}

const (
	waiting   = iota
	taken     // a transaction decides it
	withdrawn // the caller left before that
	abandoned // the caller left while the transaction was in progress
	finished
)

func (t *ticket) move(from, to int32) bool { return t.state.CompareAndSwap(from, to) }

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

var errTimeout = errors.New("it did not respond in time")

// await waits for the result. Once a transaction has taken the ticket, the end of ctx has
// no effect: the outcome is about to be known.
func (t *ticket) await(ctx context.Context, late <-chan time.Time) error {
	for gone := ctx.Done(); ; gone = nil {
		select {
		case <-t.ready:
			return t.err
		case <-gone:
			if t.move(waiting, withdrawn) {
				return ctx.Err()
			}
			continue
		case <-late:
		}
		switch {
		case t.move(waiting, withdrawn):
			return store.Unavailable(errTimeout)
		case t.move(taken, abandoned):
			return ErrUndecided
		}
		<-t.ready
		return t.err
	}
}

// A chargeOp charges a ticket.
type chargeOp struct {
	*ticket
	outcome Decision
	taken   bool // the ticket was not withdrawn
	month   book.Month
	day     book.Day
}

func (c *chargeOp) name() string   { return "charge" }
func (c *chargeOp) account() int64 { return c.request.accountID }

func (c *chargeOp) addReads(rs *readSet) {
	r := c.request
	rs.rows[rowKey{r.accountID, r.keyID, r.secret}] = true
	if c.once != nil {
		rs.records[c.record()] = true
	}
}

func (c *chargeOp) record() recordKey { return recordKey{c.request.accountID, c.once.ID} }

// decide takes the ticket, unless the caller has left, and decides it in the contract's order of
// precedence: key, token, Idempotency-Key, points. An earlier attempt may have taken it.
func (c *chargeOp) decide(ws *workingSet) {
	c.taken = c.move(waiting, taken) || c.state.Load() == taken
	if !c.taken {
		return
	}
	r := c.request
	a, k := ws.accounts[r.accountID], ws.keys[r.keyID]
	expires, known := ws.secrets[r.secret]
	kind := UnknownKey
	if a != nil && k != nil && known {
		kind = k.judge(a, expires, ws.now, r.origin)
	}
	if kind != Good {
		c.outcome = Decision{Kind: kind}
		return
	}
	a.roll(ws.month)
	k.roll(ws.month)
	var x *record
	if c.once != nil { // another replica may have charged a request with this key since Claim
		x = ws.records[c.record()]
	}
	switch {
	case r.token != nil && r.token.wait > 0:
		c.outcome = a.decision(RateLimited, r.token.wait, 0)
	case x != nil && ws.now.UnixNano() < x.expires:
		c.outcome = x.replay(c.once, a.decision(Replayed, 0, 0))
	case c.storesResponse() && a.stored+c.size > a.storedLimit:
		c.outcome = a.decision(RecordsFull, busyFor, 0)
	case a.shortfall(c.Points, 0) > 0 || k.shortfall(c.Points, 0) > 0:
		c.outcome = a.decision(Insufficient, untilRefill(a.month, ws.now), 0)
		c.outcome.Remaining = minLimit(c.outcome.Remaining, k.remaining(0))
	default:
		a.charge(c.Points)
		k.charge(c.Points)
		c.month, c.day = a.month, a.day(ws.now)
		ws.addTally(c.usage(), book.Tally{Points: c.Points, Requests: 1, Found: c.Found})
		if c.storesResponse() {
			ws.putRecord(c.record(), &record{body: c.once.Body, response: c.Response, size: c.size,
				expires: ws.now.Add(retention).UnixNano()})
		}
		c.outcome = a.decision(Good, 0, 0)
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
	if c.finish(c.outcome, nil) || !r.charged {
		return
	}
	if r.ended { // End counted it as a request that was not charged
		v.addTally(c.usage(), book.Tally{Requests: -1})
	} else {
		v.addTally(c.usage(), book.Tally{Errors: 1})
	}
	if !c.storesResponse() {
		v.voids = append(v.voids, c)
	}
}

func (c *chargeOp) fail(_ *views, err error) {
	if errors.Is(err, store.ErrData) {
		err = ErrRecord
	}
	c.finish(Decision{}, err)
}

// A voidOp gives a charge back.
type voidOp struct{ charge *chargeOp }

func (o *voidOp) name() string   { return fmt.Sprintf("void of %d points", o.charge.Points) }
func (o *voidOp) account() int64 { return o.charge.account() }
func (o *voidOp) addReads(rs *readSet) {
	rs.rows[rowKey{account: o.account(), key: o.charge.request.keyID}] = true
}

func (o *voidOp) decide(ws *workingSet) {
	c := o.charge
	a, k := ws.accounts[c.request.accountID], ws.keys[c.request.keyID]
	if a == nil {
		return
	}
	a.void(c.Points, c.month)
	if k != nil {
		k.void(c.Points, c.month)
		ws.addTally(c.usage(), book.Tally{Points: -c.Points, Found: book.Found{}.Plus(c.Found, -1)})
	}
}

func (o *voidOp) settle(v *views) {
	v.voids = slices.DeleteFunc(v.voids, func(c *chargeOp) bool { return c == o.charge })
	v.voided++
}

// fail drops the void if the database rejects it. Otherwise it is due with the next group.
func (o *voidOp) fail(v *views, err error) {
	if errors.Is(err, store.ErrData) {
		o.settle(v)
	}
}
