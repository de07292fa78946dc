package commit

import (
	"maps"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/state"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A workingSet is the rows of one transaction, and the locks that it found.
type workingSet struct {
	*state.Rows
	locked map[int64]bool // accounts that another session has locked; nothing is decided about them
	free   map[int64]bool // accounts that the transaction has locked without waiting
	writes bool           // the transaction wrote something
}

func newWorkingSet() *workingSet {
	return &workingSet{Rows: state.NewRows(), locked: map[int64]bool{}, free: map[int64]bool{}}
}

// reads returns the statements that lock and load the rows. The lock of an
// account also protects its keys and records. With skip, accounts that another session has
// locked are left out.
func (ws *workingSet) reads(needs *state.Needs, skip bool) (list []store.Statement) {
	if len(needs.Rows) > 0 {
		triples := make([][3]any, 0, len(needs.Rows))
		for row := range needs.Rows {
			hash := ""
			if row.Secret != (book.Digest{}) {
				hash = row.Secret.Hex()
			}
			triples = append(triples, [3]any{row.Account, row.Key, hash})
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
	if len(needs.Records) > 0 {
		ids := make([][2]any, 0, len(needs.Records))
		for at := range needs.Records {
			ids = append(ids, [2]any{at.Account, at.ID.Hex()})
		}
		scan := func(r store.Row) error {
			var at state.RecordAt
			x := &state.Record{}
			err := r.Scan(&at.Account, &at.ID, &x.Body, &x.Response, &x.Size, &x.Expires)
			ws.Records[at] = x
			return err
		}
		list = append(list, store.Statement{Name: "read_answers", Args: []any{store.JSON(ids)}, Scan: scan})
	}
	return list
}

func (ws *workingSet) scanRow(r store.Row) error {
	a, k := &state.Account{}, &state.Key{}
	var secret state.Hash
	var expires int64
	err := r.Scan(append(append(a.Columns(), k.Columns()...), &secret, &expires)...)
	if ws.Accounts[a.ID] == nil {
		ws.Accounts[a.ID] = a
	}
	k.Account = a.ID
	if k.ID != 0 && ws.Keys[k.ID] == nil {
		ws.Keys[k.ID] = k
	}
	if secret != (state.Hash{}) {
		ws.Secrets[book.Digest(secret)] = expires
	}
	return err
}

// dropLocked adds to locked the accounts that exist and were not free, and drops the rows of all
// locked ones, because they were read without the lock and must not replace newer views.
func (ws *workingSet) dropLocked() {
	for id := range ws.Accounts {
		if !ws.free[id] {
			ws.locked[id] = true
		}
	}
	maps.DeleteFunc(ws.Accounts, func(id int64, _ *state.Account) bool { return ws.locked[id] })
	maps.DeleteFunc(ws.Keys, func(_ int64, k *state.Key) bool { return ws.locked[k.Account] })
}

func (ws *workingSet) split(group []state.Operation) (free, locked []state.Operation) {
	if len(ws.locked) == 0 {
		return group, nil
	}
	for _, op := range group {
		if ws.locked[op.Account()] {
			locked = append(locked, op)
		} else {
			free = append(free, op)
		}
	}
	return free, locked
}

func (ws *workingSet) statements() (list []store.Statement) {
	write := func(name string, account int64, args ...any) {
		list = append(list, store.Statement{Name: name, Account: account, Args: args})
	}
	if ws.Probe {
		write("probe", 0)
	}
	for _, at := range ws.Deleted {
		write("delete_answer", at.Account, at.Account, at.ID.Hex())
	}
	for _, at := range ws.Stored {
		x := ws.Records[at]
		write("put_answer", at.Account, at.Account, at.ID.Hex(), x.Body.Hex(), x.Response, x.Size, x.Expires)
	}
	for _, a := range ws.Accounts {
		if row := a.Changes(); row != nil {
			write("put_account", a.ID, row...)
		}
	}
	for _, k := range ws.Keys {
		if row := k.Changes(); row != nil {
			write("put_key", k.Account, row...)
		}
	}
	for at, t := range ws.Usage {
		f := t.Found
		write("add_usage", at.Account, at.Account, at.Key, int64(at.Day), t.Points, t.Requests, t.Errors,
			f.Valid, f.Invalid, f.Disposable, f.Public, f.Relay, f.Role, f.Gibberish, f.Typo, f.LookupErrors)
	}
	return list
}
