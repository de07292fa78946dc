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
	queueLimit   = 4096    // charges that wait
	groupLimit   = 256     // charges committed together
	answersLimit = 4 << 20 // bytes of their answers

	sendLimit = 100 * time.Millisecond // for answers to count as unsent

	postEvery   = lateness / 2 // at most, between tokens
	recordEvery = time.Second  // requests that were not charged
	probeEvery  = 250 * time.Millisecond
)

// The writer is the one goroutine that changes what accounts have used. It
// takes what waits, decides it in one transaction, the commit group, and
// answers after the commit.
type writer struct {
	*Ledger
	queue chan *ticket
	voids []*charging // to give back with the next group

	unsent unsent

	again   []*ticket // of a group that turned out not to be committed
	redoing bool      // their second and last transaction is under way

	began      time.Time    // of this writer
	transacted atomic.Int64 // when the transaction under way began, since began; 0 without one
	down       atomic.Pointer[error]

	nextRecord, nextProbe, nextPurge time.Time

	mu     sync.RWMutex // held for reading while a ticket is put into queue
	closed bool
	done   chan struct{} // closed when the writer has ended
}

func newWriter(l *Ledger) *writer {
	return &writer{Ledger: l, queue: make(chan *ticket, queueLimit), began: time.Now(), done: make(chan struct{})}
}

var errHangs = errors.New("a transaction has hung for a second")

// failing returns why nothing can be charged at the moment, or nil.
func (w *writer) failing() error {
	if err := w.down.Load(); err != nil {
		return unavailable(*err)
	}
	if began := w.transacted.Load(); began != 0 && time.Since(w.began)-time.Duration(began) > patience {
		return unavailable(errHangs)
	}
	return nil
}

func (w *writer) run() {
	defer close(w.done)
	tick := time.NewTicker(postEvery)
	defer tick.Stop()
	for open := true; open; {
		select {
		case t, ok := <-w.queue:
			if open = ok; ok {
				w.commit(w.collect(t))
			}
		case now := <-tick.C:
			w.tend(now)
		}
	}
	w.nextRecord = time.Time{}
	w.commit(w.collect(nil)) // for the last time
}

// tend does what nobody waits for.
func (w *writer) tend(now time.Time) {
	if w.down.Load() == nil {
		w.commit(w.collect(nil))
		w.purge(now)
		return
	}
	if now.After(w.nextProbe) {
		w.nextProbe = now.Add(probeEvery)
		w.commit([]operation{probing{}})
	}
}

// probing finds out whether the database takes commits again.
type probing struct{}

func (probing) want(*wanted) {}
func (probing) decide(b *book) {
	b.writes = append(b.writes, store.Statement{Name: "probe"})
}
func (probing) settle(*views) {}
func (probing) fail(error)    {}

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
		group = append(group, &voiding{c, w})
	}
	group = w.postings(group)
	group = w.recordings(group)
	for _, t := range charges {
		group = append(group, &charging{ticket: t, writer: w})
	}
	return group
}

func (w *writer) charges(first *ticket) []*ticket {
	list := w.again
	if w.again = nil; first != nil {
		list = append(list, first)
	}
	bytes := int64(0)
	for _, t := range list {
		bytes += t.size
	}
	for room := w.unsent.room(); len(list) < room && bytes < answersLimit; {
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
func (w *writer) postings(group []operation) []operation {
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	for a := range w.views.posting {
		group = append(group, &posting{account: a, id: a.id, tokens: a.tokens[:len(a.tokens):len(a.tokens)], writer: w})
	}
	return group
}

// recordings adds what is to be recorded of requests that were not charged,
// once a second.
func (w *writer) recordings(group []operation) []operation {
	if now := time.Now(); now.Before(w.nextRecord) {
		return group
	} else {
		w.nextRecord = now.Add(recordEvery)
	}
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	for at, t := range w.views.tallies {
		group = append(group, &recording{at, t, w})
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
	w.transacted.Store(max(1, int64(begun.Sub(w.began))))
	defer w.transacted.Store(0)
	b, err := w.transact(group)
	w.stats.transacted(group, time.Since(begun), err)
	defer func() { w.stats.undecided(len(w.voids)) }()
	var doubt *store.InDoubt
	switch {
	case err == nil:
		w.settle(b, group)
	case errors.As(err, &doubt):
		w.resolve(doubt, b, group)
	case errors.Is(err, store.ErrData) && len(group) > 1:
		w.commit(group[:len(group)/2])
		w.commit(group[len(group)/2:])
	case errors.Is(err, store.ErrData):
		group[0].fail(err)
	default:
		w.fail(group, err)
	}
}

func (w *writer) transact(group []operation) (b *book, err error) {
	wants := wantedBy(group)
	reads := func() []store.Statement {
		b = newBook()
		return b.reads(wants)
	}
	return b, w.store.Transact(context.Background(), store.Transaction{Reads: reads, Marked: true,
		Decide: func(now time.Time) ([]store.Statement, error) {
			b.instant = w.clock.monotonic()
			b.now = w.clock.observe(now)
			b.month = w.clock.month(b.now)
			for _, op := range group {
				op.decide(b)
			}
			list := b.statements()
			b.changes = len(list) > 0
			return list, nil
		}})
}

// settle publishes the rows first and wakes callers then.
func (w *writer) settle(b *book, group []operation) {
	if b.changes && w.down.Swap(nil) != nil {
		w.log.Info("the database commits again")
	}
	w.unsent.begin()
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	w.views.committed(b)
	for _, op := range group {
		op.settle(w.views)
	}
}

// fail ends a group that was not committed.
func (w *writer) fail(group []operation, err error) {
	w.fell(err)
	for _, op := range group {
		op.fail(unavailable(err))
	}
}

// fell marks the database as down until a commit succeeds.
func (w *writer) fell(err error) {
	if w.down.Swap(&err) == nil {
		w.log.Error("the database does not commit; requests get 503 until it does", "error", err.Error())
	}
}

// resolve finds out about a commit of unknown outcome. Until it can, nothing
// else is done; callers wait for what is left of their second.
func (w *writer) resolve(doubt *store.InDoubt, b *book, group []operation) {
	for deadline := time.Now().Add(patience); ; time.Sleep(patience / 100) {
		committed, err := doubt.Committed(context.Background())
		switch {
		case err == nil && committed:
			w.settle(b, group)
			return
		case err == nil && w.redoing:
			w.fail(group, doubt)
			return
		case err == nil:
			w.redo(group)
			return
		}
		w.fell(err)
		if w.isClosed() && time.Now().After(deadline) {
			w.fail(group, err)
			return
		}
	}
}

// redo commits what is left of a group once more, with what has come since.
func (w *writer) redo(group []operation) {
	w.redoing = true
	defer func() { w.redoing = false }()
	for _, op := range group {
		switch op := op.(type) {
		case *charging:
			if s := op.state.Load(); s == taken || s == waiting {
				w.again = append(w.again, op.ticket)
			}
		case *recording:
			op.again()
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
