package state

import (
	"errors"
	"fmt"
	"slices"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// An Operation is a part of a commit group. Each is published or fails after one or several
// attempts to commit it.
type Operation interface {
	Name() string   // for the log
	Account() int64 // 0 for none
	AddNeeds(*Needs)
	Decide(*Rows)       // reads and changes only the rows; may run again on others
	settle(*Views)      // runs after the commit, with mu held
	fail(*Views, error) // runs if it was not committed, with mu held; ErrRecord concerns this operation only
}

// Limits of a commit group besides those of its charges.
const (
	tallyLimit = 256
	tokenLimit = 512 // keys with pending tokens, or those of the charges' accounts
)

// Group returns the operations that are due with the charges: voids, pending tokens and, if they
// are due, the tallies of requests that were not charged, in this order before the charges,
// because a charge is decided after its token. Accounts for which skip is true are left out. more
// reports whether there was no room for all tokens and tallies.
func (v *Views) Group(charges []*Ticket, tallies bool, skip func(account int64) bool) (group []Operation, more bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, m := range v.voids {
		if !skip(m.at.Account) {
			group = append(group, &voidOp{m})
		}
	}
	n := &Needs{Rows: map[RowAt]bool{}}
	add := func(a *accountView) {
		op := &tokenOp{view: a, id: a.ID, tokens: a.pending[:len(a.pending):len(a.pending)]}
		op.AddNeeds(n)
		group = append(group, op)
	}
	charged := map[*accountView]bool{}
	for _, t := range charges {
		a := t.request.account
		if !charged[a] && v.pending[a] {
			add(a)
		}
		charged[a] = true
	}
	for a := range v.pending { // in random order, so none waits for ever
		if skip(a.ID) || charged[a] {
			continue
		}
		if len(n.Rows) >= tokenLimit {
			more = true
			break
		}
		add(a)
	}
	room := tallyLimit
	for at, t := range v.tallies {
		if !tallies {
			break
		}
		if skip(at.Account) {
			continue
		}
		if room == 0 {
			more = true
			break
		}
		room--
		group = append(group, &tallyOp{at, t})
		delete(v.tallies, at)
	}
	for _, t := range charges {
		group = append(group, t)
	}
	return group, more
}

// Announce records in the views what a group will write, since a query may read it before the
// group is published.
func (v *Views) Announce(rows *Rows, group []Operation) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, op := range group {
		tokens, ok := op.(*tokenOp)
		if !ok {
			continue
		}
		if a := rows.Accounts[tokens.id]; a != nil {
			tokens.view.writing = commitment{len(tokens.tokens), a.tat}
		}
	}
}

// Publish stores the rows of a committed group and ends its operations.
func (v *Views) Publish(rows *Rows, group []Operation) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.commits++
	fresh := freshness{v.commits, rows.Instant}
	for id, row := range rows.Accounts {
		if a := v.accounts[id]; a != nil {
			a.Account, a.freshness = *row, fresh
		}
	}
	for id, row := range rows.Keys {
		if a := v.accounts[row.Account]; a != nil && a.keys[id] != nil {
			a.keys[id].Key, a.keys[id].freshness = *row, fresh
		}
	}
	for at, expires := range rows.Secrets {
		if s := v.secrets[at]; s != nil {
			s.expires, s.freshness = expires, fresh
		}
	}
	for _, op := range group {
		op.settle(v)
	}
	for id := range rows.Accounts {
		if a := v.accounts[id]; a != nil {
			v.applyPending(a)
		}
	}
}

// Fail ends operations that were not committed. It drops them if the error is ErrRecord; else
// what no caller waits for is due with the next group.
func (v *Views) Fail(group []Operation, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, op := range group {
		op.fail(v, err)
	}
}

// A tokenOp takes an account's pending tokens from the buckets in the database.
type tokenOp struct {
	view   *accountView
	id     int64
	tokens []*token // by arrival
}

func (o *tokenOp) Name() string   { return "tokens" }
func (o *tokenOp) Account() int64 { return o.id }

func (o *tokenOp) AddNeeds(n *Needs) {
	for _, t := range o.tokens {
		n.Rows[RowAt{Account: o.id, Key: t.keyID}] = true
	}
}

// Decide takes each token from the buckets of both the account and its key, or from none.
func (o *tokenOp) Decide(rows *Rows) {
	a := rows.Accounts[o.id]
	for _, t := range o.tokens {
		k := rows.Keys[t.keyID]
		if a == nil || k == nil {
			continue
		}
		arrival := rows.Now.Add(t.arrival.Sub(rows.Instant))
		tat, wait := takeToken(a.tat, arrival, rows.Now, a.rate, Lateness)
		keyTAT, keyWait := takeToken(k.tat, arrival, rows.Now, k.rate, Lateness)
		t.wait = max(wait, keyWait)
		if t.wait == 0 {
			a.changed, k.changed = a.changed || tat != a.tat, k.changed || keyTAT != k.tat
			a.tat, k.tat = tat, keyTAT
		}
	}
}

func (o *tokenOp) settle(v *Views) {
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

func (o *tokenOp) fail(v *Views, err error) {
	o.view.writing, o.view.counted = commitment{}, 0
	if errors.Is(err, ErrRecord) {
		for _, t := range o.tokens {
			t.wait = 0
		}
		o.settle(v)
	}
	v.applyPending(o.view)
}

type voidOp struct{ *made }

func (o *voidOp) Name() string      { return fmt.Sprintf("void of %d points", o.points) }
func (o *voidOp) Account() int64    { return o.at.Account }
func (o *voidOp) AddNeeds(n *Needs) { n.Rows[RowAt{Account: o.at.Account, Key: o.at.Key}] = true }

func (o *voidOp) Decide(rows *Rows) {
	a, k := rows.Accounts[o.at.Account], rows.Keys[o.at.Key]
	if a == nil {
		return
	}
	a.void(o.points, o.month)
	if k != nil {
		k.void(o.points, o.month)
		rows.addTally(o.at, book.Tally{Points: -o.points, Found: book.Found{}.Plus(o.found, -1)})
	}
}

func (o *voidOp) settle(v *Views) {
	v.voids = slices.DeleteFunc(v.voids, func(m *made) bool { return m == o.made })
	v.voided++
}

func (o *voidOp) fail(v *Views, err error) {
	if errors.Is(err, ErrRecord) {
		o.settle(v)
	}
}

type tallyOp struct {
	at    UsageAt
	tally book.Tally
}

func (o *tallyOp) Name() string      { return "usage of requests without a charge" }
func (o *tallyOp) Account() int64    { return o.at.Account }
func (o *tallyOp) AddNeeds(n *Needs) { n.Rows[RowAt{Account: o.at.Account, Key: o.at.Key}] = true }

// Decide drops the tally if the account or the key was deleted since the request:
// the row would refer to nothing, and the database would reject the whole group.
func (o *tallyOp) Decide(rows *Rows) {
	if rows.Accounts[o.at.Account] != nil && rows.Keys[o.at.Key] != nil {
		rows.addTally(o.at, o.tally)
	}
}

func (o *tallyOp) settle(*Views) {}

func (o *tallyOp) fail(v *Views, err error) {
	if !errors.Is(err, ErrRecord) {
		v.addTally(o.at, o.tally)
	}
}

// A purgeOp deletes idempotency records of an account, unless they were replaced
// since they were listed as expired.
type purgeOp struct {
	id      int64
	records []Hash
}

// Purge returns an operation that deletes those of an account's records that have expired.
func Purge(account int64, records []Hash) Operation { return &purgeOp{account, records} }

func (o *purgeOp) Name() string   { return "deletion of expired records" }
func (o *purgeOp) Account() int64 { return o.id }

func (o *purgeOp) AddNeeds(n *Needs) {
	n.Rows[RowAt{Account: o.id}] = true
	for _, id := range o.records {
		n.Records[RecordAt{o.id, id}] = true
	}
}

func (o *purgeOp) Decide(rows *Rows) {
	for _, id := range o.records {
		at := RecordAt{o.id, id}
		if x := rows.Records[at]; x != nil && rows.Now.UnixNano() >= x.Expires {
			rows.deleteRecord(at)
		}
	}
}

func (o *purgeOp) settle(*Views)      {}
func (o *purgeOp) fail(*Views, error) {}

type probeOp struct{}

// Probe returns an operation that writes a value that is there already, to test whether the
// database commits.
func Probe() Operation { return probeOp{} }

func (probeOp) Name() string       { return "probe" }
func (probeOp) Account() int64     { return 0 }
func (probeOp) AddNeeds(*Needs)    {}
func (probeOp) Decide(rows *Rows)  { rows.Probe = true }
func (probeOp) settle(*Views)      {}
func (probeOp) fail(*Views, error) {}
