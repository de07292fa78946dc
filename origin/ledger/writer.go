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
	queueLimit       = 4096    // charges that wait
	groupLimit       = 256     // charges committed together
	answerBytesLimit = 4 << 20 // bytes of their answers

	sendTimeout = 100 * time.Millisecond // for answers to count as unsent

	tickEvery  = lateness / 2 // at most, between tokens
	tallyEvery = time.Second  // requests that were not charged
	probeEvery = 250 * time.Millisecond
)

// The writer is the one goroutine that changes what accounts have used. It
// takes what waits, decides it in one transaction, the commit group, and
// answers after the commit.
type writer struct {
	*Ledger
	queue chan *ticket
	voids []*chargeOp // to give back with the next group

	unsent unsent

	retries  []*ticket // of a group that turned out not to be committed
	retrying bool      // their second and last transaction is under way

	started time.Time    // of this writer
	txBegan atomic.Int64 // when the transaction under way began, since began; 0 without one
	down    atomic.Pointer[error]

	nextTally, nextProbe, nextPurge time.Time

	mu     sync.RWMutex // held for reading while a ticket is put into queue
	closed bool
	done   chan struct{} // closed when the writer has ended
}

func newWriter(l *Ledger) *writer {
	return &writer{Ledger: l, queue: make(chan *ticket, queueLimit), started: time.Now(), done: make(chan struct{})}
}

var errHangs = errors.New("a transaction has hung for a second")

// failing returns why nothing can be charged at the moment, or nil.
func (w *writer) failing() error {
	if err := w.down.Load(); err != nil {
		return unavailable(*err)
	}
	if began := w.txBegan.Load(); began != 0 && time.Since(w.started)-time.Duration(began) > waitLimit {
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
	w.commit(w.collect(nil)) // for the last time
}

// tend does what nobody waits for.
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

// probing finds out whether the database takes commits again.
type probeOp struct{}

func (probeOp) addReads(*readSet) {}
func (probeOp) decide(ws *workingSet) {
	ws.writes = append(ws.writes, store.Statement{Name: "probe"})
}
func (probeOp) settle(*views) {}
func (probeOp) fail(error)    {}

// collect makes a group: what is to be given back, tokens, then charges.
// Charges that wait behind first are taken along, without waiting for more.
func (w *writer) collect(first *ticket) []operation {
	if first != nil {
		// Callers that were answered just now ask again first, which fills the
		// group by half as much again and costs nothing when there are none.
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
		group = append(group, &chargeOp{ticket: t, writer: w})
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

// postings adds the tokens of all accounts, so those of the charges as well.
func (w *writer) tokenOps(group []operation) []operation {
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	for a := range w.views.pending {
		group = append(group, &tokenOp{account: a, id: a.id, tokens: a.pending[:len(a.pending):len(a.pending)], writer: w})
	}
	return group
}

// recordings adds what is to be recorded of requests that were not charged,
// once a second.
func (w *writer) tallyOps(group []operation) []operation {
	if now := time.Now(); now.Before(w.nextTally) {
		return group
	} else {
		w.nextTally = now.Add(tallyEvery)
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

// close takes no more charges, commits those that wait and ends the writer;
// false if that was done before.
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
