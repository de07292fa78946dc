package ledger

import (
	"crypto/rand"
	"crypto/subtle"
	"time"
)

// Retention is how long an idempotency key is remembered.
const Retention = 24 * time.Hour

// A hold is one idempotency key of an account: held by a request under way
// until its lease ends, or answered. Times are Unix times in nanoseconds.
type hold struct {
	holdKey
	body    [32]byte
	owner   string // the request that holds it
	lease   int64  // until when the holder may work
	expires int64  // from when on the key is forgotten

	answered bool
	answer   []byte // null in the database while under way

	// What the holder was charged.
	key    int64
	points int64
	month  month
	day    Day

	changed, dropped bool
}

type holdKey struct {
	account int64
	id      [32]byte
}

// recall finds what became of the request that first came with this
// idempotency key. Admitted means that there is none, or that it ended without
// an answer.
func (b *book) recall(a *account, i *Idempotency) (Verdict, []byte) {
	if i == nil {
		return Admitted, nil
	}
	h := b.holds[holdKey{a.id, i.ID}]
	switch {
	case h == nil || h.dropped:
		return Admitted, nil
	case h.lapsed(b.now):
		b.expel(a, h)
		return Admitted, nil
	case b.now.UnixNano() >= h.expires:
		return Admitted, nil
	case subtle.ConstantTimeCompare(h.body[:], i.Body[:]) == 0:
		return IdempotencyMismatch, nil
	case h.answered:
		return Replayed, h.answer
	}
	return IdempotencyConflict, nil
}

// lapsed reports whether the holder outlived its lease without an answer.
func (h *hold) lapsed(now time.Time) bool {
	return !h.answered && now.UnixNano() >= h.lease
}

// expel frees an idempotency key whose lease has lapsed. What its holder was
// charged is given back, so that a retry is not charged twice; when the holder
// settles after all, it finds its lease lost.
func (b *book) expel(a *account, h *hold) {
	b.entry(usageKey{a.id, h.key, h.day}).Points -= h.points
	a.refund(h.points, h.month)
	h.dropped = true
}

// hold lets the charged request hold its idempotency key.
func (b *book) hold(i *Idempotency, c *charge) {
	if i == nil {
		return
	}
	c.idempotency, c.owner = &i.ID, rand.Text()
	at := holdKey{c.account, i.ID}
	b.holds[at] = &hold{
		holdKey: at,
		body:    i.Body,
		owner:   c.owner,
		lease:   b.now.Add(b.lease).UnixNano(),
		expires: b.now.Add(Retention).UnixNano(),
		key:     c.key, points: c.points, month: c.month, day: c.day,
		changed: true,
	}
}

// held is the hold of a charge, or nil when a retry has taken it over.
func (b *book) held(c *charge) *hold {
	h := b.holds[holdKey{c.account, *c.idempotency}]
	if h == nil || h.dropped || h.owner != c.owner {
		return nil
	}
	return h
}

// finish remembers the answer of a request, or frees its key when it failed.
func (h *hold) finish(s Settlement) {
	if s.Failed {
		h.dropped = true
		return
	}
	h.answered, h.answer = true, append([]byte{}, s.Answer...) // never null
	h.points -= s.Refund
	h.changed = true
}
