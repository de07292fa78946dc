package api

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A MemoryBudget limits the memory that requests under way use for long headers,
// bodies and answers: of the whole process, and to a quarter of that for each
// account, so that one account cannot use up the memory of all.
//
// Bytes are reserved as they arrive, not in advance: a caller uses the memory of
// what it sent, whatever Content-Length announces. But a request gets further
// bytes only while there is room for all that it may still need. So the request
// served last can always finish, and requests that each have a part of what they
// need cannot deadlock.
type MemoryBudget struct {
	mu         sync.Mutex
	total      int64
	perAccount int64           // limit of one account
	used       int64           // by all accounts, each counted up to perAccount
	accounts   map[int64]int64 // bytes used by each account, without those at 0
	waiting    int             // requests that wait for bytes
	freed      chan struct{}   // closed and replaced when bytes are released while a request waits
}

const (
	// DefaultBodyMemory is the default budget in bytes.
	DefaultBodyMemory = 64 << 20
	// MinBodyMemory is the least budget in bytes: with it, one account has room
	// for the longest body.
	MinBodyMemory = budgetShares * bodyMemoryFactor * maxBody

	// budgetShares is the number of accounts that together can use all of the
	// budget.
	budgetShares = 4
	// budgetWait is how long a request waits for others to release bytes.
	budgetWait = time.Second
	// A request that needs at most smallRequest bytes may use all of the budget,
	// larger ones only three quarters. So large bodies, even slow ones, do not
	// block usual requests. A batch of 64 usual addresses needs 8 KiB.
	smallRequest = 32 << 10
)

// NewMemoryBudget returns a budget of total bytes.
func NewMemoryBudget(total int64) *MemoryBudget {
	return &MemoryBudget{total: total, perAccount: total / budgetShares, accounts: map[int64]int64{}, freed: make(chan struct{})}
}

// Used returns the number of bytes that requests under way use.
func (b *MemoryBudget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

var (
	errAccountLimit = errors.New("the account has reached its limit of memory for bodies")
	errMemoryLimit  = errors.New("the memory for bodies is used up")
)

// A reservation is the part of the budget that one request uses.
type reservation struct {
	budget  *MemoryBudget
	account int64
	bytes   int64
}

// grow raises the reservation to bytes, for a request that may need up to need
// bytes. If the process's budget is used up, it waits for up to budgetWait. If the
// account is at its limit, it returns errAccountLimit at once.
func (r *reservation) grow(ctx context.Context, bytes, need int64) error {
	freed, err := r.budget.reserve(r, bytes, need, false)
	if freed == nil {
		return err
	}
	timeout := time.NewTimer(budgetWait)
	defer timeout.Stop()
	for freed != nil {
		select {
		case <-freed:
		case <-timeout.C:
			err = errMemoryLimit
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			r.budget.stopWaiting()
			return err
		}
		freed, err = r.budget.reserve(r, bytes, need, true)
	}
	return err
}

// set changes the reservation to bytes without a check: to release bytes, or to
// count an answer that already exists.
func (r *reservation) set(bytes int64) {
	r.budget.mu.Lock()
	defer r.budget.mu.Unlock()
	r.budget.setLocked(r, bytes)
}

// reserve raises r to bytes if there is room. If the process's budget has none,
// it returns a channel that is closed when the caller should try again. The
// caller then counts as waiting until it calls reserve, with waits set, or
// stopWaiting.
func (b *MemoryBudget) reserve(r *reservation, bytes, need int64, waits bool) (freed <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if waits {
		b.waiting--
	}
	more := need - r.bytes
	switch {
	case b.accounts[r.account]+more > b.perAccount:
		return nil, errAccountLimit
	case b.used+more > b.limit(need):
		b.waiting++
		return b.freed, nil
	}
	b.setLocked(r, bytes)
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

// setLocked changes r to bytes. Bytes of an account beyond perAccount (answers
// that its callers do not read) do not count against other accounts. The caller
// must hold mu.
func (b *MemoryBudget) setLocked(r *reservation, bytes int64) {
	before := b.accounts[r.account]
	after := before + bytes - r.bytes
	r.bytes = bytes
	b.used += min(after, b.perAccount) - min(before, b.perAccount)
	if b.accounts[r.account] = after; after == 0 {
		delete(b.accounts, r.account)
	}
	if after < before && b.waiting > 0 {
		close(b.freed)
		b.freed = make(chan struct{})
	}
}
