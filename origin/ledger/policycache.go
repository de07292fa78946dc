package ledger

import (
	"context"
	"sync/atomic"

	"github.com/maypok86/otter/v2"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// policyCache has recent policies, so that few requests read one from the database.
type policyCache struct {
	query   func(context.Context, store.Statement) error
	reading chan struct{} // has an element for each query in progress
	entries *otter.Cache[policyKey, *Policy]
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
		entries: otter.Must(&otter.Options[policyKey, *Policy]{
			MaximumWeight: maxCachedBytes,
			Weigher:       func(_ policyKey, p *Policy) uint32 { return uint32(max(p.Size, minCachedBytes)) },
		})}
}

// find returns a policy. Requests that need the same one at the same time share a query.
func (c *policyCache) find(ctx context.Context, at policyKey) (*Policy, error) {
	return c.entries.Get(ctx, at, otter.LoaderFunc[policyKey, *Policy](func(ctx context.Context, at policyKey) (*Policy, error) {
		select {
		case c.reading <- struct{}{}:
			defer func() { <-c.reading }()
		case <-ctx.Done():
			return nil, unavailable(errTimeout)
		}
		read := policyRead{account: at.account, name: at.name}
		if err := c.query(ctx, read.read()); err != nil {
			return nil, unavailable(err)
		}
		if !read.found {
			return nil, ErrNoPolicy
		}
		read.accepted = new(atomic.Value)
		return &read.Policy, nil
	}))
}
