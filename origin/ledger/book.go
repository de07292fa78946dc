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
