package book

import (
	"context"
	"errors"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A sideStore runs what is neither a charge nor the lookup of a key: one transaction at a time,
// and few queries. On SQLite all transactions wait for one lock, on PostgreSQL for connections,
// and there are few connections for reading. So a commit group waits for at most one other
// transaction, and a key for no other query, however many people sign in, change keys or look at
// pages.
type sideStore struct {
	store.Store
	slot    chan struct{} // has an element while a transaction runs
	queries chan struct{} // has an element for each query that runs
}

// maxSideQueries is half of the connections for reading.
const maxSideQueries = 2

// sideTries is how often a transaction tries to lock rows of another session. Others have their
// turn in between, because a locked account must not delay the changes of another one.
const sideTries = 10

func newSideStore(s store.Store) *sideStore {
	return &sideStore{s, make(chan struct{}, 1), make(chan struct{}, maxSideQueries)}
}

// Transact waits for its turn until ctx ends. It may call t.Reads and t.Decide again.
func (s *sideStore) Transact(ctx context.Context, t store.Transaction) (err error) {
	for range sideTries {
		if err := enter(ctx, s.slot); err != nil {
			return err
		}
		err = s.Store.Transact(ctx, t)
		<-s.slot
		if _, locked := errors.AsType[*store.Locked](err); !locked {
			return err
		}
	}
	return err
}

// Query waits for its turn until ctx ends.
func (s *sideStore) Query(ctx context.Context, st store.Statement) error {
	if err := enter(ctx, s.queries); err != nil {
		return err
	}
	defer func() { <-s.queries }()
	return s.Store.Query(ctx, st)
}

// enter adds an element to slots, waiting until ctx ends for a free one. A free one
// is taken even if ctx has ended, so that what is in progress can be finished.
func enter(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
