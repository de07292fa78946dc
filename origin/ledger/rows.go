package ledger

// A keyRow is what a decision needs to know of a key.
type keyRow struct {
	id, account int64
	revoked     bool
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
	err := r.Scan(&h.account, &id, &body, &h.owner, &h.lease, &h.expires,
		&h.answered, &h.answer, &h.key, &h.points, &h.month, &h.day)
	if err == nil {
		err = fromHex(h.id[:], id)
	}
	if err == nil {
		err = fromHex(h.body[:], body)
	}
	b.holds[h.holdKey] = h
	return err
}
