package ledger

import (
	"encoding/hex"
	"errors"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A workingSet is the rows that a commit group concerns, as its transaction read
// them under locks, and what the group's decisions change.
type workingSet struct {
	now     time.Time  // by the database's clock
	instant time.Time  // the same time by the monotonic clock
	month   book.Month // of now

	locked   map[int64]bool // accounts that another session has locked; nothing is decided about them
	free     map[int64]bool // accounts that the transaction has locked without waiting
	accounts map[int64]*accountState
	keys     map[int64]*keyState
	secrets  map[book.Digest]int64 // expiry, Unix time in nanoseconds; 0 for never
	records  map[recordKey]*record
	usage    map[usageKey]book.Tally
	writes   []store.Statement // of idempotency records, and of the probe
	changes  bool              // the transaction wrote something
}

// A recordKey identifies an idempotency record.
type recordKey struct {
	account int64
	id      recordID
}

// A usageKey identifies a row of the usage history.
type usageKey struct {
	account, key int64
	day          book.Day
}

// A readSet is the rows and records that the operations of a group need.
type readSet struct {
	rows    map[rowKey]bool
	records map[recordKey]bool
}

// A rowKey identifies an account, one of its keys or 0, and one of the key's
// secrets or zeros.
type rowKey struct {
	account, key int64
	secret       book.Digest
}

func newWorkingSet() *workingSet {
	return &workingSet{
		locked:   map[int64]bool{},
		free:     map[int64]bool{},
		accounts: map[int64]*accountState{},
		keys:     map[int64]*keyState{},
		secrets:  map[book.Digest]int64{},
		records:  map[recordKey]*record{},
		usage:    map[usageKey]book.Tally{},
	}
}

// reads returns the statements that lock and load the read set. The lock of an
// account also protects its keys and records. With skip, accounts that another session has
// locked are left out.
func (ws *workingSet) reads(rs *readSet, skip bool) (list []store.Statement) {
	if len(rs.rows) > 0 {
		triples := make([][3]any, 0, len(rs.rows))
		for row := range rs.rows {
			hash := ""
			if row.secret != (book.Digest{}) {
				hash = row.secret.Hex()
			}
			triples = append(triples, [3]any{row.account, row.key, hash})
		}
		rows := []any{store.JSON(triples)}
		lock := store.Statement{Name: "lock_accounts", Args: rows}
		if skip {
			lock = store.Statement{Name: "lock_free_accounts", Args: rows, Scan: func(r store.Row) error {
				var account int64
				err := r.Scan(&account)
				ws.free[account] = true
				return err
			}}
		}
		list = append(list, lock, store.Statement{Name: "read_rows", Args: rows, Scan: ws.scanRow})
	}
	if len(rs.records) > 0 {
		ids := make([][2]any, 0, len(rs.records))
		for at := range rs.records {
			ids = append(ids, [2]any{at.account, at.id.hex()})
		}
		list = append(list, store.Statement{Name: "read_answers", Args: []any{store.JSON(ids)}, Scan: ws.scanRecord})
	}
	return list
}

// findLocked adds to locked the accounts that exist and were not free.
func (ws *workingSet) findLocked() {
	for id := range ws.accounts {
		if !ws.free[id] {
			ws.locked[id] = true
		}
	}
}

// split splits a group into what may be decided and what concerns locked accounts.
func (ws *workingSet) split(group []operation) (free, locked []operation) {
	if len(ws.locked) == 0 {
		return group, nil
	}
	for _, op := range group {
		if ws.locked[op.account()] {
			locked = append(locked, op)
		} else {
			free = append(free, op)
		}
	}
	return free, locked
}

func (ws *workingSet) scanRow(r store.Row) error {
	a, k := &accountState{}, &keyState{}
	var hash string
	var expires int64
	if err := r.Scan(append(append(a.columns(), k.columns()...), &hash, &expires)...); err != nil {
		return err
	}
	if ws.accounts[a.id] == nil {
		ws.accounts[a.id] = a
	}
	k.account = a.id
	if k.id != 0 && ws.keys[k.id] == nil {
		ws.keys[k.id] = k
	}
	if hash == "" {
		return nil
	}
	var at book.Digest
	err := fromHex(at[:], hash)
	ws.secrets[at] = expires
	return err
}

func (ws *workingSet) scanRecord(r store.Row) error {
	var at recordKey
	var id, body string
	x := &record{}
	if err := r.Scan(&at.account, &id, &body, &x.response, &x.size, &x.expires); err != nil {
		return err
	}
	if err := fromHex(at.id[:], id); err != nil {
		return err
	}
	ws.records[at] = x
	return fromHex(x.body[:], body)
}

// addTally adds to the usage history.
func (ws *workingSet) addTally(at usageKey, t book.Tally) { ws.usage[at] = ws.usage[at].Plus(t) }

// putRecord stores a record, in place of an expired one if there is one.
func (ws *workingSet) putRecord(at recordKey, x *record) {
	ws.deleteRecord(at)
	ws.records[at] = x
	ws.accounts[at.account].addStored(x.size)
	ws.writes = append(ws.writes, store.Statement{Name: "put_answer", Account: at.account,
		Args: []any{at.account, at.id.hex(), book.Digest(x.body).Hex(), x.response, x.size, x.expires}})
}

// deleteRecord deletes an expired record, if it is there.
func (ws *workingSet) deleteRecord(at recordKey) {
	if x := ws.records[at]; x != nil {
		delete(ws.records, at)
		ws.accounts[at.account].addStored(-x.size)
		ws.writes = append(ws.writes, store.Statement{Name: "delete_answer", Account: at.account, Args: []any{at.account, at.id.hex()}})
	}
}

// statements returns the statements that write what the decisions changed.
func (ws *workingSet) statements() []store.Statement {
	list := ws.writes
	for _, a := range ws.accounts {
		if a.changed {
			list = append(list, store.Statement{Name: "put_account", Account: a.id, Args: []any{a.id, int64(a.month), a.used, a.tat, a.stored}})
		}
	}
	for _, k := range ws.keys {
		if k.changed {
			list = append(list, store.Statement{Name: "put_key", Account: k.account, Args: []any{k.id, int64(k.month), k.used, k.tat}})
		}
	}
	for at, t := range ws.usage {
		f := t.Found
		list = append(list, store.Statement{Name: "add_usage", Account: at.account, Args: []any{at.account, at.key, int64(at.day), t.Points, t.Requests, t.Errors,
			f.Valid, f.Invalid, f.Disposable, f.Public, f.Relay, f.Role, f.Gibberish, f.Typo, f.LookupErrors}})
	}
	return list
}

func fromHex(dst []byte, s string) error {
	if hex.DecodedLen(len(s)) != len(dst) {
		return errors.New("a hash in the database has the wrong length")
	}
	_, err := hex.Decode(dst, []byte(s))
	return err
}
