package ledger

import (
	"context"
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

// commit decides a group in one transaction and then answers.
func (w *writer) commit(group []operation) {
	if len(group) == 0 {
		return
	}
	begun := time.Now()
	w.txBegan.Store(max(1, int64(begun.Sub(w.started))))
	defer w.txBegan.Store(0)
	ws, err := w.transact(group)
	w.stats.transaction(group, time.Since(begun), err)
	defer func() { w.stats.undecided(len(w.voids)) }()
	var doubt *store.InDoubt
	switch {
	case err == nil:
		w.settle(ws, group)
	case errors.As(err, &doubt):
		w.resolve(doubt, ws, group)
	case errors.Is(err, store.ErrData) && len(group) > 1:
		w.commit(group[:len(group)/2])
		w.commit(group[len(group)/2:])
	case errors.Is(err, store.ErrData):
		group[0].fail(err)
	default:
		w.fail(group, err)
	}
}

func (w *writer) transact(group []operation) (ws *workingSet, err error) {
	rs := readSetOf(group)
	reads := func() []store.Statement {
		ws = newWorkingSet()
		return ws.reads(rs)
	}
	return ws, w.store.Transact(context.Background(), store.Transaction{Reads: reads, Marked: true,
		Decide: func(now time.Time) ([]store.Statement, error) {
			ws.instant = w.clock.monotonic()
			ws.now = w.clock.observe(now)
			ws.month = w.clock.month(ws.now)
			for _, op := range group {
				op.decide(ws)
			}
			list := ws.statements()
			ws.changes = len(list) > 0
			return list, nil
		}})
}

// settle publishes the rows first and wakes callers then.
func (w *writer) settle(ws *workingSet, group []operation) {
	if ws.changes && w.down.Swap(nil) != nil {
		w.log.Info("the database commits again")
	}
	w.unsent.beginGroup()
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	w.views.publishGroup(ws)
	for _, op := range group {
		op.settle(w.views)
	}
}

// fail ends a group that was not committed.
func (w *writer) fail(group []operation, err error) {
	w.markDown(err)
	for _, op := range group {
		op.fail(unavailable(err))
	}
}

// fell marks the database as down until a commit succeeds.
func (w *writer) markDown(err error) {
	if w.down.Swap(&err) == nil {
		w.log.Error("the database does not commit; requests get 503 until it does", "error", err.Error())
	}
}

// resolve finds out about a commit of unknown outcome. Until it can, nothing
// else is done; callers wait for what is left of their second.
func (w *writer) resolve(doubt *store.InDoubt, ws *workingSet, group []operation) {
	for deadline := time.Now().Add(waitLimit); ; time.Sleep(waitLimit / 100) {
		committed, err := doubt.Committed(context.Background())
		switch {
		case err == nil && committed:
			w.settle(ws, group)
			return
		case err == nil && w.retrying:
			w.fail(group, doubt)
			return
		case err == nil:
			w.retry(group)
			return
		}
		w.markDown(err)
		if w.isClosed() && time.Now().After(deadline) {
			w.fail(group, err)
			return
		}
	}
}

// redo commits what is left of a group once more, with what has come since.
func (w *writer) retry(group []operation) {
	w.retrying = true
	defer func() { w.retrying = false }()
	for _, op := range group {
		switch op := op.(type) {
		case *chargeOp:
			if s := op.state.Load(); s == taken || s == waiting {
				w.retries = append(w.retries, op.ticket)
			}
		case *tallyOp:
			op.requeue()
		}
	}
	w.commit(w.collect(nil))
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
