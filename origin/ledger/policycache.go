package ledger

import (
	"context"
	"sync/atomic"

	"github.com/maypok86/otter/v2"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/state"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

type policyCache struct {
	query   func(context.Context, store.Statement) error
	reading chan struct{} // has an element for each query in progress
	entries *otter.Cache[policyKey, *SharedPolicy]
}

// A SharedPolicy is a policy that requests share while it is in memory.
type SharedPolicy struct {
	book.Policy
	accepted atomic.Value
}

// Accepted returns what accept makes of the document, which many requests keep: it must always
// return the same type.
func (p *SharedPolicy) Accepted(accept func() (any, error)) (any, error) {
	if known := p.accepted.Load(); known != nil {
		return known, nil
	}
	accepted, err := accept()
	if err == nil {
		p.accepted.Store(accepted)
	}
	return accepted, err
}

// policyKey identifies a policy as it was after so many changes of the account's policies, or
// later. So a change applies when the view of the account has it, as one of a key would.
type policyKey struct {
	account int64
	name    string
	changes int64
}

// Bounds of the policies in memory, of all accounts: bytes, each policy counting as some at least.
const (
	maxCachedBytes = 32 << 20
	minCachedBytes = 8 << 10
)

func newPolicyCache(query func(context.Context, store.Statement) error) *policyCache {
	return &policyCache{query: query, reading: make(chan struct{}, maxQueries),
		entries: otter.Must(&otter.Options[policyKey, *SharedPolicy]{
			MaximumWeight: maxCachedBytes,
			Weigher:       func(_ policyKey, p *SharedPolicy) uint32 { return uint32(max(p.Size, minCachedBytes)) },
		})}
}

// find returns a policy. Requests that need the same one at the same time share a query.
func (c *policyCache) find(ctx context.Context, at policyKey) (*SharedPolicy, error) {
	load := func(ctx context.Context, at policyKey) (*SharedPolicy, error) {
		select {
		case c.reading <- struct{}{}:
			defer func() { <-c.reading }()
		case <-ctx.Done():
			return nil, store.Unavailable(state.ErrLate)
		}
		p := &SharedPolicy{}
		if err := c.query(ctx, book.ReadPolicy(at.account, at.name, &p.Policy)); err != nil {
			return nil, store.Unavailable(err)
		}
		if p.Version == 0 {
			return nil, book.ErrNoPolicy
		}
		return p, nil
	}
	return c.entries.Get(ctx, at, otter.LoaderFunc[policyKey, *SharedPolicy](load))
}
