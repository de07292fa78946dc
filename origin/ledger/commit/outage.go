package commit

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/state"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// waitLimit bounds the time that a request waits for the database in all its steps.
const waitLimit = time.Second

// Timing is how long requests wait, and the writer between commits. Tests change it.
type Timing struct {
	Wait     time.Duration // for the database, in all steps of a request together
	Tally    time.Duration // between commits of tallies
	Recovery time.Duration // requests that arrive in an outage wait in the first part of it, see AwaitCommits
}

// DefaultTiming is that of a service. A disk that is busy, or a server that restarts, recovers
// within half a minute; in a longer outage requests are refused at once.
var DefaultTiming = Timing{Wait: waitLimit, Tally: time.Second, Recovery: 30 * time.Second}

type outage struct {
	err   error
	since time.Time
}

// health is what requests know of the writer's transactions.
type health struct {
	views   *state.Views
	log     *slog.Logger
	timing  *Timing
	started time.Time
	txBegan atomic.Int64           // when the group in progress began, in ns since started; 0 if none
	down    atomic.Pointer[outage] // nil while the database commits

	mu      sync.Mutex
	next    chan struct{} // closed at the end of the next transaction
	awaited bool
}

func newHealth(v *state.Views, log *slog.Logger, t *Timing) *health {
	return &health{views: v, log: log, timing: t, started: time.Now(), next: make(chan struct{})}
}

var errHangs = errors.New("a transaction has hung for a second")

// outage returns nil if the database commits and no transaction hangs.
func (h *health) outage() *outage {
	if o := h.down.Load(); o != nil {
		return o
	}
	if began := h.txBegan.Load(); began != 0 {
		if since := h.started.Add(time.Duration(began)); time.Since(since) > h.timing.Wait {
			return &outage{errHangs, since}
		}
	}
	return nil
}

// Failing returns an error that wraps store.ErrUnavailable if the database does not commit.
func (h *health) Failing() error {
	if o := h.outage(); o != nil {
		return store.Unavailable(o.err)
	}
	return nil
}

func (h *health) markDown(err error) {
	since := time.Now()
	if before := h.down.Load(); before != nil {
		since = before.since
	}
	if h.down.Swap(&outage{err, since}) == nil {
		h.log.Error("the database does not commit; requests get 503 until it does", "error", err.Error())
	}
}

// begin marks the beginning of a transaction. end announces its end to the requests that wait.
func (h *health) begin() (end func()) {
	outermost := h.txBegan.CompareAndSwap(0, max(1, int64(time.Since(h.started)))) // else it is a part of another group
	return func() {
		if outermost {
			h.txBegan.Store(0)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.awaited {
			close(h.next)
			h.next, h.awaited = make(chan struct{}), false
		}
	}
}

// AwaitCommits returns nil once the database commits, and how long it has waited: most of the
// request's second at most, since the charge may wait as well. So requests are not refused at
// once to come back together.
func (h *health) AwaitCommits(ctx context.Context, at book.Digest) (waited time.Duration, err error) {
	if h.outage() == nil {
		return 0, nil
	}
	endWait := h.views.BeginWait(at)
	if endWait == nil {
		return 0, h.Failing()
	}
	defer endWait()
	began, timer := time.Now(), time.NewTimer(h.timing.Wait*3/4)
	defer timer.Stop()
	for {
		h.mu.Lock()
		h.awaited = true
		ended := h.next
		h.mu.Unlock()
		o := h.outage()
		if o == nil {
			return time.Since(began), nil
		}
		if time.Since(o.since) > h.timing.Recovery {
			return 0, store.Unavailable(o.err)
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-timer.C:
			return 0, store.Unavailable(o.err)
		}
	}
}
