package dashboard

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Bounds of requests that take longer than a page: checks wait for DNS, exports
// for the client's download. They leave their slot among the pages for one of
// their own kind, so pages never wait for them.
const (
	maxChecks      = 64       // under way at a time
	maxChecksEach  = 8        // of one account
	maxCheckMemory = 64 << 20 // bytes of their answers, estimated
	maxExports     = 4
	maxExportsEach = 1
	busyWait       = time.Second // until a client should try again
)

// slots limits the requests of a kind, in all and for each account, and the memory
// of all.
type slots struct {
	all, each int
	memory    int64

	mu       sync.Mutex
	taken    int
	free     int64 // of memory
	accounts map[int64]int
}

func newSlots(all, each int, memory int64) *slots {
	return &slots{all: all, each: each, memory: memory, free: memory, accounts: map[int64]int{}}
}

// take takes a slot and memory. If the account or the service has none left, it
// returns a problem instead.
func (s *slots) take(account, memory int64) (release func(), p *problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.accounts[account] >= s.each:
		return nil, errBusyAccount
	case s.taken >= s.all || s.free < memory:
		return nil, errBusy
	}
	s.taken++
	s.free -= memory
	s.accounts[account]++
	return func() { s.release(account, memory) }, nil
}

func (s *slots) release(account, memory int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	s.free += memory
	if s.accounts[account]--; s.accounts[account] == 0 {
		delete(s.accounts, account)
	}
}

// The problems of requests that get no slot.
var (
	errBusy = &problem{status: http.StatusServiceUnavailable, code: "BUSY", wait: busyWait, input: true,
		sentence: "Many people use the dashboard at the moment. Try again in a few seconds."}
	errBusyAccount = &problem{status: http.StatusTooManyRequests, code: "BUSY_ACCOUNT", wait: busyWait, input: true,
		sentence: "Several requests of this account are under way in the dashboard. Try again when one has finished."}
)

// A place is the slot that a request has.
type place struct {
	ctx     context.Context // of the connection, without the time limit of pages
	release func()
}

type placeKey struct{}

// within returns ctx with the place.
func (p *place) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, placeKey{}, p)
}

func (p *place) leave() { p.release() }

// move exchanges the visit's slot for one of another kind, and returns a context
// that has no time limit.
func (v *visit) move(to *slots, memory int64) (context.Context, *problem) {
	release, p := to.take(v.user.Account, memory)
	if p != nil {
		return nil, p
	}
	at := v.r.Context().Value(placeKey{}).(*place)
	at.release()
	at.release = release
	return at.ctx, nil
}
