package ledger

import (
	"errors"
	"slices"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// An operation is a part of a commit group. Each ends with a call of settle or
// fail, after one or several attempts to commit it.
type operation interface {
	name() string       // for the log
	account() int64     // 0 for none
	addReads(*readSet)  // adds the rows it needs
	decide(*workingSet) // reads and changes only the working set; may run again on another
	settle(*views)      // runs after the commit, with views.mu held
	fail(*views, error) // runs if it was not committed, with views.mu held; store.ErrData concerns this operation only
}

// A tokenOp takes an account's pending tokens from the buckets in the database.
type tokenOp struct {
	view   *accountView
	id     int64
	tokens []*token // by arrival
}

func (o *tokenOp) name() string   { return "tokens" }
func (o *tokenOp) account() int64 { return o.id }

func (o *tokenOp) addReads(rs *readSet) {
	for _, t := range o.tokens {
		rs.rows[rowKey{account: o.id, key: t.keyID}] = true
	}
}

// decide takes each token from the buckets of both the account and its key, or from none.
func (o *tokenOp) decide(ws *workingSet) {
	a := ws.accounts[o.id]
	for _, t := range o.tokens {
		k := ws.keys[t.keyID]
		if a == nil || k == nil {
			continue
		}
		arrival := ws.now.Add(t.arrival.Sub(ws.instant))
		tat, wait := takeToken(a.tat, arrival, ws.now, a.rate, lateness)
		keyTAT, keyWait := takeToken(k.tat, arrival, ws.now, k.rate, lateness)
		t.wait = max(wait, keyWait)
		if t.wait == 0 {
			a.changed, k.changed = a.changed || tat != a.tat, k.changed || keyTAT != k.tat
			a.tat, k.tat = tat, keyTAT
		}
	}
}

// announce records in the view what the group writes, since a query may read it before
// the group is published.
func (o *tokenOp) announce(ws *workingSet) {
	if a := ws.accounts[o.id]; a != nil {
		o.view.writing = commitment{len(o.tokens), a.tat}
	}
}

// settle removes the tokens from the pending ones and cancels the requests whose
// tokens were refused.
func (o *tokenOp) settle(v *views) {
	o.view.writing, o.view.counted = commitment{}, 0
	o.view.pending = slices.Clone(o.view.pending[len(o.tokens):])
	if len(o.view.pending) == 0 {
		delete(v.pending, o.view)
	}
	for _, t := range o.tokens {
		t.refused = t.wait
		if t.refused > 0 {
			t.cancel(errLateRefusal)
		}
	}
}

// fail drops the tokens if the database rejects the account's rows. Otherwise
// they stay pending for the next group.
func (o *tokenOp) fail(v *views, err error) {
	o.view.writing, o.view.counted = commitment{}, 0
	if errors.Is(err, store.ErrData) {
		for _, t := range o.tokens {
			t.wait = 0
		}
		o.settle(v)
	}
	v.applyPending(o.view)
}

// A tallyOp adds requests that were not charged to the usage history.
type tallyOp struct {
	at    usageKey
	tally book.Tally
}

func (o *tallyOp) name() string         { return "usage of requests without a charge" }
func (o *tallyOp) account() int64       { return o.at.account }
func (o *tallyOp) addReads(rs *readSet) { rs.rows[rowKey{account: o.at.account, key: o.at.key}] = true }

// decide drops the tally if the account or the key was deleted since the request:
// the row would refer to nothing, and the database would reject the whole group.
func (o *tallyOp) decide(ws *workingSet) {
	if ws.accounts[o.at.account] != nil && ws.keys[o.at.key] != nil {
		ws.addTally(o.at, o.tally)
	}
}

func (o *tallyOp) settle(*views) {}

// fail keeps the tally for another group, unless the database rejects it.
func (o *tallyOp) fail(v *views, err error) {
	if !errors.Is(err, store.ErrData) {
		v.addTally(o.at, o.tally)
	}
}

// A purgeOp deletes idempotency records of an account, unless they were replaced
// since they were listed as expired.
type purgeOp struct {
	id  int64
	ids []recordID
}

func (o *purgeOp) name() string   { return "deletion of expired records" }
func (o *purgeOp) account() int64 { return o.id }

func (o *purgeOp) addReads(rs *readSet) {
	rs.rows[rowKey{account: o.id}] = true
	for _, id := range o.ids {
		rs.records[recordKey{o.id, id}] = true
	}
}

func (o *purgeOp) decide(ws *workingSet) {
	if ws.accounts[o.id] == nil {
		return // deleted since
	}
	for _, id := range o.ids {
		at := recordKey{o.id, id}
		if x := ws.records[at]; x != nil && ws.now.UnixNano() >= x.expires {
			ws.deleteRecord(at)
		}
	}
}

func (o *purgeOp) settle(*views)      {}
func (o *purgeOp) fail(*views, error) {}

// A probeOp writes a value that is there already, to test whether the database
// commits.
type probeOp struct{}

func (probeOp) name() string          { return "probe" }
func (probeOp) account() int64        { return 0 }
func (probeOp) addReads(*readSet)     {}
func (probeOp) decide(ws *workingSet) { ws.writes = append(ws.writes, store.Statement{Name: "probe"}) }
func (probeOp) settle(*views)         {}
func (probeOp) fail(*views, error)    {}
