package ledger

import "time"

// A view is exact if it is what the database has. While no other connection
// commits, that is each row: only the writer changes rows, and publishes what it
// changes. On SQLite, where one process usually has the file, the store knows
// whether another connection has committed since the last group
// (store.Transaction.Alone). So a group reads only rows without an exact view, and
// confirms all exact ones, which then need no query after maxAccept.
//
// The row of a query is not exact if the query began before a group that changed
// a row without a view: the query may have read it before.

// isExact reports whether a row is exact.
func (v *views) isExact(f freshness) bool { return f.firm && f.commit > v.foreign }

// asOf returns the last instant at which a row is known to have been what the
// database had.
func (v *views) asOf(f freshness) time.Time {
	if v.isExact(f) && v.alone.After(f.read) {
		return v.alone
	}
	return f.read
}

// distrust makes all views inexact, until they are published again.
func (v *views) distrust() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.foreign = v.commits
}

// fill copies exact rows to the working set of a group and returns what is left
// to read. Without alone, another connection may have committed.
func (v *views) fill(ws *workingSet, rs *readSet, alone bool) *readSet {
	if !alone {
		v.distrust()
		return rs
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	left := &readSet{map[rowKey]bool{}, rs.records}
	for row := range rs.rows {
		if !v.copyExact(ws, row) {
			left.rows[row] = true
		}
	}
	return left
}

// copyExact copies an account, its key and its secret, if all that row names are
// exact. A view that was rolled to another month since is not what the database has.
func (v *views) copyExact(ws *workingSet, row rowKey) bool {
	a := v.accounts[row.account]
	if a == nil || a.changed || !v.isExact(a.freshness) {
		return false
	}
	k, s := a.keys[row.key], v.secrets[row.secret]
	if row.key != 0 && (k == nil || k.changed || !v.isExact(k.freshness)) {
		return false
	}
	if row.secret != (digest{}) && (s == nil || s.key != k || !v.isExact(s.freshness)) {
		return false
	}
	ws.addAccount(a.accountState)
	if row.key != 0 {
		ws.addKey(k.keyState)
	}
	if row.secret != (digest{}) {
		ws.secrets[row.secret] = s.expires
	}
	return true
}

// addAccount adds a row, unless it is there already.
func (ws *workingSet) addAccount(row accountState) {
	if ws.accounts[row.id] == nil {
		ws.accounts[row.id] = &row
	}
}

// addKey adds a row, unless it is there already.
func (ws *workingSet) addKey(row keyState) {
	if ws.keys[row.id] == nil {
		ws.keys[row.id] = &row
	}
}
