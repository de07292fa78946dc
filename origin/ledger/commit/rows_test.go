package commit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/state"
)

// Of accounts that other sessions have locked nothing is decided or published.
func TestLockedRowsAreDropped(t *testing.T) {
	ws := newWorkingSet()
	for id := range int64(3) {
		ws.Accounts[id] = &state.Account{ID: id}
		ws.Keys[10+id] = &state.Key{ID: 10 + id, Account: id}
		ws.free[id] = id > 0
	}
	ws.locked[2] = true // a write of another table has met a lock
	ws.dropLocked()
	require.Equal(t, map[int64]bool{0: true, 2: true}, ws.locked)
	require.Equal(t, map[int64]*state.Account{1: {ID: 1}}, ws.Accounts)
	require.Equal(t, map[int64]*state.Key{11: {ID: 11, Account: 1}}, ws.Keys)
}
