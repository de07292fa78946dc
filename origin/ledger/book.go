package ledger

import "time"

// A book is the working set of one batch: the rows that it concerns, as the
// transaction read them, and what the decisions change.
type book struct {
	now   time.Time
	lease time.Duration

	accounts map[int64]*account
	keys     map[digest]*keyRow
	holds    map[holdKey]*hold
	entries  map[usageKey]*Tally
}

// A keyRow is what a decision needs to know of a key.
type keyRow struct {
	id, account int64
	revoked     bool
}

// A usageKey names a line of the usage history.
type usageKey struct {
	account, key int64
	day          Day
}

// A Tally is what a key did in a day, or what a batch adds to it.
type Tally struct {
	Points   int64 // charged, less what was given back
	Requests int64 // that had a token
	Errors   int64 // of these, how many were not answered with 200
}

func newBook(lease time.Duration) *book {
	return &book{
		lease:    lease,
		accounts: map[int64]*account{},
		keys:     map[digest]*keyRow{},
		holds:    map[holdKey]*hold{},
		entries:  map[usageKey]*Tally{},
	}
}

// entry is the line of the usage history to add to.
func (b *book) entry(at usageKey) *Tally {
	e := b.entries[at]
	if e == nil {
		e = &Tally{}
		b.entries[at] = e
	}
	return e
}

// reads lists what a batch must load. Accounts come first: to read them is to
// lock them, and what follows is then read as it stands under the lock.
func (b *book) reads(batch []*ticket) []statement {
	w := wanted{Keys: []string{}, Accounts: []int64{}}
	for _, t := range batch {
		t.op.want(&w)
	}
	reads := []statement{
		{name: "lock_accounts", args: []any{asJSON(w.Keys), asJSON(w.Accounts)}, scan: b.scanAccount},
		{name: "read_keys", args: []any{asJSON(w.Keys)}, scan: b.scanKey},
	}
	if len(w.Holds) > 0 {
		reads = append(reads, statement{name: "read_holds", args: []any{asJSON(w.Holds)}, scan: b.scanHold})
	}
	return reads
}

// wanted is what the operations of a batch ask to be loaded.
type wanted struct {
	Keys     []string // digests of secrets, in hexadecimal
	Accounts []int64
	Holds    []wantedHold
}

// A wantedHold names its account, or the key of its account.
type wantedHold struct {
	Key     string `json:"key,omitempty"`
	Account int64  `json:"account,omitempty"`
	ID      string `json:"id"`
}

func (b *book) scanAccount(r row) error {
	a := &account{}
	err := r.Scan(&a.id, &a.month, &a.used, &a.tat, &a.points, &a.rate, &a.overage)
	b.accounts[a.id] = a
	return err
}

func (b *book) scanKey(r row) error {
	k := &keyRow{}
	var hash string
	if err := r.Scan(&hash, &k.id, &k.account, &k.revoked); err != nil {
		return err
	}
	var at digest
	err := fromHex(at[:], hash)
	b.keys[at] = k
	return err
}

func (b *book) scanHold(r row) error {
	h := &hold{}
	var id, body string
	err := r.Scan(&h.account, &id, &body, &h.owner, &h.lease, &h.expires, &h.answer,
		&h.key, &h.points, &h.month, &h.day)
	if err == nil {
		err = fromHex(h.id[:], id)
	}
	if err == nil {
		err = fromHex(h.body[:], body)
	}
	b.holds[h.holdKey] = h
	return err
}

// writes lists what the decisions changed.
func (b *book) writes() []statement {
	var list []statement
	for _, a := range b.accounts {
		if a.changed {
			list = append(list, statement{name: "put_account", args: []any{a.id, int64(a.month), a.used, a.tat}})
		}
	}
	for at, e := range b.entries {
		list = append(list, statement{name: "add_usage",
			args: []any{at.account, at.key, int64(at.day), e.Points, e.Requests, e.Errors}})
	}
	for _, h := range b.holds {
		list = append(list, h.writes()...)
	}
	return list
}

func (h *hold) writes() []statement {
	id := toHex(h.id[:])
	switch {
	case h.dropped:
		return []statement{{name: "drop_hold", args: []any{h.account, id}}}
	case h.changed:
		return []statement{{name: "put_hold", args: []any{h.account, id, toHex(h.body[:]), h.owner,
			h.lease, h.expires, h.answer, h.key, h.points, int64(h.month), int64(h.day)}}}
	}
	return nil
}
