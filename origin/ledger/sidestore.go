package ledger

import (
	"context"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A sideStore runs the transactions that are not charges, one at a time. On SQLite
// all transactions wait for one lock, on PostgreSQL for connections. So a commit
// group waits for at most one of them, however many people sign in or change keys.
type sideStore struct {
	store.Store
	slot chan struct{} // has an element while a transaction runs
}

func newSideStore(s store.Store) *sideStore { return &sideStore{s, make(chan struct{}, 1)} }

// Transact waits for its turn until ctx ends.
func (s *sideStore) Transact(ctx context.Context, t store.Transaction) error {
	select {
	case s.slot <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.slot }()
	return s.Store.Transact(ctx, t)
}
