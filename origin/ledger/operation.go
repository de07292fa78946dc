package ledger

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// An operation is a part of a commit group. Each ends with a call of settle or
// fail, after one or several attempts to commit it.
type operation interface {
	concerns() int64    // the account; 0 for none
	addReads(*readSet)  // adds the rows it needs
	decide(*workingSet) // reads and changes only the working set; may run again on another
	settle(*views)      // runs after the commit, with views.mu held
	fail(error)         // runs if it was not committed; store.ErrData concerns this operation only
}

func (o *tokenOp) concerns() int64  { return o.id }
func (o *tallyOp) concerns() int64  { return o.at.account }
func (o *purgeOp) concerns() int64  { return o.account }
func (c *chargeOp) concerns() int64 { return c.request.accountID }
func (o *voidOp) concerns() int64   { return o.charge.request.accountID }
func (probeOp) concerns() int64     { return 0 }

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

// settle removes the tokens from the pending ones and cancels the requests whose
// tokens were refused.
func (o *tokenOp) settle(v *views) {
	o.account.writing, o.account.counted = commitment{}, 0
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
	o.account.writing, o.account.counted = commitment{}, 0
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
	if errors.Is(err, store.ErrData) {
		return
	}
	o.writer.views.mu.Lock() // for another group
	defer o.writer.views.mu.Unlock()
	o.writer.views.addTally(o.at, o.tally)
}

// A probeOp writes a value that is there already, to test whether the database
// commits.
type probeOp struct{}

func (probeOp) addReads(*readSet) {}
func (probeOp) decide(ws *workingSet) {
	ws.writes = append(ws.writes, store.Statement{Name: "probe"})
}
func (probeOp) settle(*views) {}
func (probeOp) fail(error)    {}

// Expired records are deleted in slices. After a full slice the next begins when
// five times its duration have passed since its beginning, so deletion takes a
// fifth of the writer's time at most.
const (
	purgeEvery   = time.Minute
	purgeRecords = 500     // in a slice
	purgeBytes   = 4 << 20 // in a slice
	purgeShare   = 5       // durations of a slice from one full slice to the next
)

// purge deletes one slice, if it is due.
func (w *writer) purge(now time.Time) {
	if now.Before(w.nextPurge) {
		return
	}
	begun := time.Now()
	group, full := w.expiredRecords()
	w.commit(group)
	w.nextPurge = now.Add(purgeEvery)
	if full {
		w.nextPurge = now.Add(purgeShare * time.Since(begun))
	}
}

// expiredRecords returns a slice as operations, one for each account, and
// whether it is full. If the database cannot be read, it returns none.
func (w *writer) expiredRecords() (group []operation, full bool) {
	byAccount := map[int64]*purgeOp{}
	records, bytes := 0, int64(0)
	scan := func(r store.Row) error {
		var account, size int64
		var id string
		if err := r.Scan(&account, &id, &size); err != nil || bytes+size > purgeBytes && records > 0 {
			full = full || err == nil
			return err
		}
		o := byAccount[account]
		if o == nil {
			o = &purgeOp{account: account}
			byAccount[account] = o
			group = append(group, o)
		}
		records, bytes = records+1, bytes+size
		o.ids = append(o.ids, recordID{})
		return fromHex(o.ids[len(o.ids)-1][:], id)
	}
	for name, time := range w.purgeable() {
		list := store.Statement{Name: name, Args: []any{time.UnixNano(), purgeRecords - records}, Scan: scan}
		if err := w.store.Query(context.Background(), list); err != nil {
			return nil, false
		}
	}
	return group, full || records == purgeRecords
}

// purgeable returns which records to delete, as queries with their times. Records that
// expire too late were stored while the clock was ahead, or the clock is behind now and
// will be set right: they are deleted once the process has seen a steady clock for as long
// as a record lives, so they are that old by any clock.
func (w *writer) purgeable() map[string]time.Time {
	now := w.clock.now()
	which := map[string]time.Time{"list_expired_answers": now}
	if w.clock.monotonic().Sub(w.clock.steady) > retention {
		which["list_future_answers"] = latestExpiry(now)
	}
	return which
}

// latestExpiry returns the latest expiry that a record stored before now can have.
func latestExpiry(now time.Time) time.Time { return now.Add(retention + slack) }

// A purgeOp deletes idempotency records of an account, unless they were replaced
// since they were listed as expired.
type purgeOp struct {
	account int64
	ids     []recordID
}

func (o *purgeOp) addReads(rs *readSet) {
	rs.rows[rowKey{account: o.account}] = true
	for _, id := range o.ids {
		rs.records[recordKey{o.account, id}] = true
	}
}

func (o *purgeOp) decide(ws *workingSet) {
	if ws.accounts[o.account] == nil {
		return // deleted since
	}
	for _, id := range o.ids {
		at := recordKey{o.account, id}
		if x := ws.records[at]; x != nil && (ws.now.UnixNano() >= x.expires || x.expires > latestExpiry(ws.now).UnixNano()) {
			ws.deleteRecord(at)
		}
	}
}

func (o *purgeOp) settle(*views) {}
func (o *purgeOp) fail(error)    {}
