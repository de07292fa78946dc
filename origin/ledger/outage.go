package ledger

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// An outage is why the database does not commit, and since when.
type outage struct {
	err   error
	since time.Time
}

var errHangs = errors.New("a transaction has hung for a second")

// outage returns nil if the database commits and no transaction hangs.
func (w *writer) outage() *outage {
	if o := w.down.Load(); o != nil {
		return o
	}
	if began := w.txBegan.Load(); began != 0 {
		if since := w.started.Add(time.Duration(began)); time.Since(since) > w.timing.wait {
			return &outage{errHangs, since}
		}
	}
	return nil
}

// failing returns the outage as an error that wraps store.ErrUnavailable, nil if there is none.
func (w *writer) failing() error {
	if o := w.outage(); o != nil {
		return store.Unavailable(o.err)
	}
	return nil
}

// markDown marks the database as down until a commit succeeds.
func (w *writer) markDown(err error) {
	since := time.Now()
	if before := w.down.Load(); before != nil {
		since = before.since
	}
	if w.down.Swap(&outage{err, since}) == nil {
		w.log.Error("the database does not commit; requests get 503 until it does", "error", err.Error())
	}
}

// recovery is how long requests wait in an outage: a disk that is busy, or a server that
// restarts, recovers within seconds. In a longer outage they are refused at once.
const recovery = 30 * time.Second

// awaitCommits returns nil once the database commits, and how long it has waited: most of the
// request's second at most, since the charge may wait as well. So requests are not refused at
// once to come back together.
func (w *writer) awaitCommits(ctx context.Context, at book.Digest) (waited time.Duration, err error) {
	if w.outage() == nil {
		return 0, nil
	}
	account := w.views.beginWait(at)
	if account == nil {
		return 0, w.failing()
	}
	defer w.views.endWait(account)
	began, timer := time.Now(), time.NewTimer(w.timing.wait*3/4)
	defer timer.Stop()
	for {
		changed := w.changed.await()
		o := w.outage()
		if o == nil {
			return time.Since(began), nil
		}
		if time.Since(o.since) > w.timing.recovery {
			return 0, store.Unavailable(o.err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-timer.C:
			return 0, store.Unavailable(o.err)
		}
	}
}

// changes announces the ends of transactions to those who wait for one.
type changes struct {
	mu      sync.Mutex
	next    chan struct{} // closed at the end of the next transaction
	awaited bool
}

// await returns a channel that is closed at the end of the next transaction.
func (c *changes) await() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.awaited = true
	return c.next
}

func (c *changes) announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.awaited {
		close(c.next)
		c.next, c.awaited = make(chan struct{}), false
	}
}
