package api

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A Budget bounds the memory that requests under way hold for long headers,
// bodies and answers: for the whole process, and a quarter of that for each account. So one
// account can use up its own share and not the process.
//
// Bytes are taken as they arrive, never in advance: a caller holds what it sent,
// whatever its Content-Length announces. But a request gets further bytes only
// while there is room for all that it may come to need. So the one that was
// served last can always go on to its end, and requests that each have a part do
// not wait for each other in vain.
type MemoryBudget struct {
	mu         sync.Mutex
	total      int64
	perAccount int64           // of one account
	used       int64           // by all accounts, each counted up to its share
	accounts   map[int64]int64 // bytes used by each account, those at 0 left out
	waiting    int             // requests that wait for bytes
	freed      chan struct{}   // closed and replaced when bytes are given back and a request waits
}

const (
	// DefaultBodyMemory is the process's budget unless it is configured.
	DefaultBodyMemory = 64 << 20
	// MinBodyMemory leaves one account room for the longest body.
	MinBodyMemory = budgetShares * bodyMemoryFactor * maxBody

	// accountsShare is how many accounts can use the budget up.
	budgetShares = 4
	// budgetWait is how long a request waits for others to give bytes back.
	budgetWait = time.Second
	// A request that needs no more than smallHold may use all of the budget,
	// others leave the last quarter to them: so large bodies, however slow, do
	// not keep the usual ones out. A batch of 64 usual addresses needs 8 KiB.
	smallRequest = 32 << 10
)

// NewBudget returns a budget of so many bytes.
func NewMemoryBudget(total int64) *MemoryBudget {
	return &MemoryBudget{total: total, perAccount: total / budgetShares, accounts: map[int64]int64{}, freed: make(chan struct{})}
}

// Used is how many bytes requests under way hold.
func (b *MemoryBudget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

var (
	errAccountLimit = errors.New("the account's share of the memory for bodies is used up")
	errMemoryLimit  = errors.New("the memory for bodies is used up")
)

// A hold is what one request has of the budget.
type reservation struct {
	budget  *MemoryBudget
	account int64
	bytes   int64
}

// grow raises the hold to so many bytes, of a request that may come to need so
// many. It waits a moment if the process's budget is used up; the account's share
// it does not wait for.
func (h *reservation) grow(ctx context.Context, bytes, need int64) error {
	freed, err := h.budget.reserve(h, bytes, need, false)
	if freed == nil {
		return err
	}
	patience := time.NewTimer(budgetWait)
	defer patience.Stop()
	for freed != nil {
		select {
		case <-freed:
		case <-patience.C:
			err = errMemoryLimit
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			h.budget.stopWaiting()
			return err
		}
		freed, err = h.budget.reserve(h, bytes, need, true)
	}
	return err
}

// set makes the hold so many bytes and is never refused: it gives bytes back, or
// counts an answer that exists already.
func (h *reservation) set(bytes int64) {
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.budget.setLocked(h, bytes)
}

// take raises h to so many bytes if there is room. If the process's budget has
// none, freed is not nil and is closed when it is worth trying again; the caller
// then counts as waiting, until it takes or gives up.
func (b *MemoryBudget) reserve(h *reservation, bytes, need int64, waits bool) (freed <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if waits {
		b.waiting--
	}
	more := need - h.bytes
	switch {
	case b.accounts[h.account]+more > b.perAccount:
		return nil, errAccountLimit
	case b.used+more > b.limit(need):
		b.waiting++
		return b.freed, nil
	}
	b.setLocked(h, bytes)
	return nil, nil
}

func (b *MemoryBudget) limit(need int64) int64 {
	if need <= smallRequest {
		return b.total
	}
	return b.total - b.total/4
}

func (b *MemoryBudget) stopWaiting() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting--
}

// move makes h so many bytes. What an account has beyond its share (answers
// that its callers do not read) is not counted against the others.
func (b *MemoryBudget) setLocked(h *reservation, bytes int64) {
	before := b.accounts[h.account]
	after := before + bytes - h.bytes
	h.bytes = bytes
	b.used += min(after, b.perAccount) - min(before, b.perAccount)
	if b.accounts[h.account] = after; after == 0 {
		delete(b.accounts, h.account)
	}
	if after < before && b.waiting > 0 {
		close(b.freed)
		b.freed = make(chan struct{})
	}
}
