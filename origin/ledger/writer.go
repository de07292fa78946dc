package ledger

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Bounds of the writer.
const (
	queueLimit       = 4096    // tickets that wait
	groupLimit       = 256     // charges in a commit group
	answerBytesLimit = 4 << 20 // bytes of answers to store in a commit group

	sendTimeout = 100 * time.Millisecond // after it, an answer counts as sent

	tickEvery  = lateness / 2 // between commits of pending tokens
	tallyEvery = time.Second  // between commits of tallies
	probeEvery = 250 * time.Millisecond
)

// A writer commits charges. Only its goroutine, run, charges on this replica.
type writer struct {
	*Ledger
	queue   chan *ticket
	timers  sync.Pool // of callers
	started time.Time
	txBegan atomic.Int64          // when the transaction under way began, in ns since started; 0 if none
	down    atomic.Pointer[error] // why the database does not commit; nil if it does

	// Used by run only.
	voids    []*chargeOp // charges to void with the next group
	unsent   unsent
	retries  []*ticket // of a group that was in doubt and not committed
	retrying bool      // the second and last transaction of retries is under way

	nextTally, nextProbe, nextPurge time.Time

	mu     sync.RWMutex // read-locked to send to queue, locked to close it
	closed bool
	done   chan struct{} // closed when run has returned
}

func newWriter(l *Ledger) *writer {
	return &writer{Ledger: l, queue: make(chan *ticket, queueLimit), started: time.Now(), done: make(chan struct{})}
}

var errHangs = errors.New("a transaction has hung for a second")

// failing returns nil if the database commits and no transaction hangs, else an
// error that wraps ErrUnavailable.
func (w *writer) failing() error {
	if err := w.down.Load(); err != nil {
		return unavailable(*err)
	}
	if began := w.txBegan.Load(); began != 0 && time.Since(w.started)-time.Duration(began) > w.wait {
		return unavailable(errHangs)
	}
	return nil
}

func (w *writer) run() {
	defer close(w.done)
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for open := true; open; {
		select {
		case t, ok := <-w.queue:
			if open = ok; ok {
				w.commit(w.collect(t))
			}
		case now := <-tick.C:
			w.maintain(now)
		}
	}
	w.nextTally = time.Time{}
	w.commit(w.collect(nil)) // voids, tokens and tallies that are left
}

// maintain commits what no caller waits for: voids, tokens, tallies and the
// deletion of expired records. While the database is down it only probes.
func (w *writer) maintain(now time.Time) {
	if w.down.Load() == nil {
		w.commit(w.collect(nil))
		w.purge(now)
		return
	}
	if now.After(w.nextProbe) {
		w.nextProbe = now.Add(probeEvery)
		w.commit([]operation{probeOp{}})
	}
}

// A probeOp writes a value that is there already, to test whether the database
// commits.
type probeOp struct{}

func (probeOp) addReads(*readSet) {}
func (probeOp) decide(ws *workingSet) {
	ws.writes = append(ws.writes, store.Statement{Name: "probe"})
}
func (probeOp) settle(*views) {}
func (probeOp) fail(error)    {}

// collect returns the next group: voids, pending tokens, tallies, then the
// charge first, if any, with those queued behind it. It waits for no further
// charges.
func (w *writer) collect(first *ticket) []operation {
	if first != nil {
		// Callers that were just answered submit their next charges first. This
		// fills groups half as much again and costs nothing without such callers.
		runtime.Gosched()
	}
	charges := w.charges(first)
	var group []operation
	for _, c := range w.voids {
		group = append(group, &voidOp{c, w})
	}
	group = w.tokenOps(group)
	group = w.tallyOps(group)
	for _, t := range charges {
		t.op = chargeOp{ticket: t, writer: w}
		group = append(group, &t.op)
	}
	return group
}

func (w *writer) charges(first *ticket) []*ticket {
	list := w.retries
	if w.retries = nil; first != nil {
		list = append(list, first)
	}
	bytes := int64(0)
	for _, t := range list {
		bytes += t.size
	}
	for room := w.unsent.capacity(); len(list) < room && bytes < answerBytesLimit; {
		select {
		case t := <-w.queue:
			if t == nil { // closed
				return list
			}
			list = append(list, t)
			bytes += t.size
		default:
			return list
		}
	}
	return list
}

// tokenOps appends the pending tokens of all accounts, which include those of
// the group's charges.
func (w *writer) tokenOps(group []operation) []operation {
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	for a := range w.views.pending {
		group = append(group, &tokenOp{account: a, id: a.id, tokens: a.pending[:len(a.pending):len(a.pending)], writer: w})
	}
	return group
}

// tallyOps appends the tallies of requests that were not charged, once per
// tallyEvery.
func (w *writer) tallyOps(group []operation) []operation {
	if now := time.Now(); now.Before(w.nextTally) {
		return group
	} else {
		w.nextTally = now.Add(w.tally)
	}
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	for at, t := range w.views.tallies {
		group = append(group, &tallyOp{at, t, w})
	}
	clear(w.views.tallies)
	return group
}

func (w *writer) isClosed() bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.closed
}

// close refuses further tickets, commits those that wait and ends the writer.
// It returns false if the writer was closed before.
func (w *writer) close() bool {
	w.mu.Lock()
	already := w.closed
	if w.closed = true; !already {
		close(w.queue)
	}
	w.mu.Unlock()
	<-w.done
	return !already
}
