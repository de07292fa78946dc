package ledger

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Bounds of the writer.
const (
	queueLimit         = 4096    // tickets that wait
	groupLimit         = 256     // charges in a commit group
	tallyLimit         = 256     // tallies in a commit group
	tokenLimit         = 512     // keys with pending tokens in a commit group, or those of its charges' accounts
	responseBytesLimit = 4 << 20 // bytes of responses to store in a commit group

	tickEvery  = lateness / 2 // between commits of pending tokens
	tallyEvery = time.Second  // between commits of tallies
	probeEvery = 250 * time.Millisecond
)

// A writer commits charges. Only its goroutine, run, charges on this replica.
type writer struct {
	store   store.Store
	views   *views
	stats   *statsRecorder
	log     *slog.Logger
	timing  *timing
	queue   chan *ticket
	started time.Time
	txBegan atomic.Int64           // when the group in progress began, in ns since started; 0 if none
	down    atomic.Pointer[outage] // nil while the database commits

	// Used by run only.
	locked   map[int64]time.Time // accounts that another session has locked, and until when groups leave them out
	retrying bool                // the second and last attempt of a group is in progress
	more     bool                // the last group had no room for all tokens and tallies that were due
	settled  bool                // a part of it was committed

	nextTally, nextProbe, nextPurge time.Time

	mu      sync.RWMutex // read-locked to send to queue, locked to close it
	closed  bool
	done    chan struct{} // closed when run has returned
	changed changes
}

// waitLimit bounds the time that a request waits for the database, in all its steps
// together.
const waitLimit = time.Second

// timing is how long requests wait, and the writer between commits. Tests change it.
type timing struct {
	wait     time.Duration // for the database, in all steps of a request together
	tally    time.Duration // see tallyEvery
	recovery time.Duration // requests that arrive in an outage wait in the first part of it, see awaitCommits
}

func newWriter(s store.Store, v *views, stats *statsRecorder, log *slog.Logger, t *timing) *writer {
	return &writer{store: s, views: v, stats: stats, log: log, timing: t, queue: make(chan *ticket, queueLimit),
		started: time.Now(), locked: map[int64]time.Time{}, done: make(chan struct{}), changed: changes{next: make(chan struct{})}}
}

// submit queues a ticket and waits for its result, for at most limit. It returns
// ErrUndecided if the limit passes while a transaction decides the ticket.
func (w *writer) submit(ctx context.Context, t *ticket, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	if err := w.enqueue(ctx, t, timer.C); err != nil {
		return err
	}
	return t.await(ctx, timer.C)
}

func (w *writer) enqueue(ctx context.Context, t *ticket, late <-chan time.Time) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return ErrClosed
	}
	select {
	case w.queue <- t:
		return nil
	default:
	}
	select {
	case w.queue <- t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late:
		return store.Unavailable(errTimeout)
	}
}

func (w *writer) run() {
	defer close(w.done)
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		select {
		case t := <-w.queue:
			if t == nil { // closed
				w.nextTally = time.Time{}
				w.serve(nil) // voids, tokens and tallies that are left
				return
			}
			w.serve(t)
		case now := <-tick.C:
			w.maintain(now)
		}
	}
}

// serve commits groups, the first with a ticket unless it is nil, until no token or
// tally was left out for want of room.
func (w *writer) serve(first *ticket) {
	for again := true; again; first = nil {
		w.settled = false
		w.commit(w.collect(first))
		again = w.more && w.settled
	}
}

// maintain commits what no caller waits for: voids, tokens, tallies and the
// deletion of expired records. While the database is down it only probes.
func (w *writer) maintain(now time.Time) {
	if w.down.Load() == nil {
		w.serve(nil)
		w.purge(now)
		return
	}
	if now.After(w.nextProbe) {
		w.nextProbe = now.Add(probeEvery)
		w.commit([]operation{probeOp{}})
	}
}

// isClosed reports whether close was called.
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
	w.closed = true
	if !already {
		close(w.queue)
	}
	w.mu.Unlock()
	<-w.done
	return !already
}

var errLocked = errors.New("another replica, or an operator's session, has locked the account for too long")

// lockMemory is how long groups leave an account out that another session has locked.
const lockMemory = time.Second

// collect returns the next group: voids, pending tokens, tallies, then the
// charge first, if any, with those queued behind it. It waits for no further
// charges. Accounts that were found locked lately are left out, and their charges fail.
func (w *writer) collect(first *ticket) (group []operation) {
	now := time.Now()
	maps.DeleteFunc(w.locked, func(_ int64, until time.Time) bool { return now.After(until) })
	if first != nil {
		// Callers that just got a result submit their next charges first. This
		// fills groups half as much again and costs nothing without such callers.
		runtime.Gosched()
	}
	var charges []operation
	charged, bytes := map[*accountView]bool{}, int64(0)
	for t := first; t != nil; {
		_, locked := w.locked[t.request.accountID]
		switch {
		case !t.waits():
		case locked:
			t.finish(Decision{}, store.Unavailable(errLocked))
		default:
			charges, bytes = append(charges, &chargeOp{ticket: t}), bytes+t.size
			charged[t.request.account] = true
		}
		t = nil
		if len(charges) < groupLimit && bytes < responseBytesLimit {
			select {
			case t = <-w.queue:
			default:
			}
		}
	}
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	for _, c := range w.views.voids {
		if _, locked := w.locked[c.account()]; !locked {
			group = append(group, &voidOp{c})
		}
	}
	group = w.addTokens(group, charged)
	if !now.Before(w.nextTally) {
		group = w.addTallies(group)
	}
	return append(group, charges...)
}

// addTokens appends the pending tokens of the accounts to charge, since a charge is decided
// after its token, and those of other accounts for which the group has room. Which these are is
// random, so none waits for ever. views.mu is held.
func (w *writer) addTokens(group []operation, charged map[*accountView]bool) []operation {
	rs := &readSet{rows: map[rowKey]bool{}}
	add := func(a *accountView) {
		op := &tokenOp{view: a, id: a.id, tokens: a.pending[:len(a.pending):len(a.pending)]}
		op.addReads(rs)
		group = append(group, op)
	}
	for a := range charged {
		if w.views.pending[a] {
			add(a)
		}
	}
	w.more = false
	for a := range w.views.pending {
		_, locked := w.locked[a.id]
		switch {
		case locked || charged[a]:
		case len(rs.rows) >= tokenLimit:
			w.more = true
			return group
		default:
			add(a)
		}
	}
	return group
}

// addTallies appends tallies of requests that were not charged. They are due once per
// tallyEvery, and then until none is left. views.mu is held.
func (w *writer) addTallies(group []operation) []operation {
	room := tallyLimit
	for at, t := range w.views.tallies {
		if _, locked := w.locked[at.account]; locked {
			continue
		}
		if room == 0 {
			w.more = true
			return group
		}
		room--
		group = append(group, &tallyOp{at, t})
		delete(w.views.tallies, at)
	}
	w.nextTally = time.Now().Add(w.timing.tally)
	return group
}

// commit runs a group in one transaction and ends its operations. A group that
// the database rejects for its data is bisected, so that one bad row fails only
// its own operation. One that runs out of time, or into a lock of the whole database, is
// halved once. Tokens come before the charges in each group, so they do in its halves.
func (w *writer) commit(group []operation) {
	if len(group) == 0 {
		return
	}
	begun := time.Now()
	defer w.changed.announce()
	if w.txBegan.CompareAndSwap(0, max(1, int64(begun.Sub(w.started)))) { // else the group is a part of another
		defer w.txBegan.Store(0)
	}
	ws, err := w.transact(group)
	decided, locked := ws.split(group)
	w.fail(locked, store.Unavailable(errLocked))
	w.stats.count(func(s *Stats) { s.transaction(decided, time.Since(begun), err, len(w.locked)) })
	var doubt *store.InDoubt
	_, isLock := errors.AsType[*store.Locked](err)
	switch {
	case err == nil:
		w.settle(ws, decided)
	case errors.As(err, &doubt):
		w.resolve(doubt, ws, decided)
	case errors.Is(err, store.ErrData) && len(decided) > 1:
		w.commit(decided[:len(decided)/2])
		w.commit(decided[len(decided)/2:])
	case errors.Is(err, store.ErrData):
		for _, op := range decided {
			w.log.Error("the database rejects the rows of an operation, which is dropped",
				"operation", op.name(), "account", op.account(), "error", err.Error())
		}
		w.fail(decided, err)
	case (isLock || errors.Is(err, context.DeadlineExceeded)) && len(decided) > 1 && !w.retrying:
		w.retry(decided, err)
	default:
		w.markDown(err)
		w.fail(decided, store.Unavailable(err))
	}
}

func isCharge(op operation) bool {
	_, ok := op.(*chargeOp)
	return ok
}

// transaction counts a transaction.
func (s *Stats) transaction(group []operation, took time.Duration, err error, locked int) {
	s.Busy, s.Slowest, s.Locked = s.Busy+took, max(s.Slowest, took), locked
	if err != nil {
		s.Failures++
		return
	}
	charges := 0
	for _, op := range group {
		if isCharge(op) {
			charges++
		}
	}
	s.Commits++
	s.Charges += int64(charges)
	s.Largest = max(s.Largest, charges)
}

// lockTries bounds the transactions of a group.
const lockTries = 4

// transact runs a group in a transaction. If it waits in vain for a lock of another session, it
// runs once more without the accounts that are locked then. Replicas that charge the same account
// take turns, so a group waits for an account's lock at first. Rows of other tables are
// written under the lock of the account: only an operator locks them alone, so only the write that
// waits in vain shows their account, which the next attempt leaves out. It returns a
// *store.Locked only if the database as a whole is locked, such as the tables.
func (w *writer) transact(group []operation) (ws *workingSet, err error) {
	rs := &readSet{map[rowKey]bool{}, map[recordKey]bool{}}
	for _, op := range group {
		op.addReads(rs)
	}
	locked := map[int64]bool{}
	for try := 0; ; try++ {
		ws, err = w.tryTransact(group, rs, try > 0, locked)
		l, isLock := errors.AsType[*store.Locked](err)
		if isLock && try < lockTries-1 && (try == 0 || l.Account != 0) {
			w.stats.count(func(s *Stats) { s.LockWaits++ })
			locked[l.Account] = true
			continue
		}
		for id := range ws.locked {
			if w.locked[id].IsZero() {
				w.log.Warn("another session has locked an account; its requests get 503 while the lock lasts", "account", id)
			}
			w.locked[id] = time.Now().Add(lockMemory)
		}
		return ws, err
	}
}

// tryTransact runs a transaction without the accounts in locked and, with skip, without those
// that other sessions have locked.
func (w *writer) tryTransact(group []operation, rs *readSet, skip bool, locked map[int64]bool) (ws *workingSet, err error) {
	ws = newWorkingSet()
	t := store.Transaction{Marked: true}
	t.Reads = func() []store.Statement {
		ws = newWorkingSet()
		return ws.reads(rs, skip)
	}
	t.Decide = func(now time.Time) ([]store.Statement, error) {
		if skip {
			ws.findLocked()
			maps.Copy(ws.locked, locked)
			delete(ws.locked, 0)
		}
		at := w.views.clock.observe(now)
		ws.now, ws.instant, ws.month = at.database, at.instant, book.MonthOf(at.database)
		decided, _ := ws.split(group)
		for _, op := range decided {
			op.decide(ws)
		}
		w.views.mu.Lock()
		for _, op := range decided {
			if tokens, ok := op.(*tokenOp); ok {
				tokens.announce(ws)
			}
		}
		w.views.mu.Unlock()
		list := ws.statements()
		ws.changes = len(list) > 0
		return list, nil
	}
	return ws, w.store.Transact(context.Background(), t)
}

// settle publishes the rows of a committed group to the views and returns
// the results to the callers.
func (w *writer) settle(ws *workingSet, group []operation) {
	if ws.changes && w.down.Swap(nil) != nil {
		w.log.Info("the database commits again")
	}
	w.settled = w.settled || len(group) > 0
	w.views.publishGroup(ws, group)
}

// fail ends operations that were not committed.
func (w *writer) fail(group []operation, err error) {
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	for _, op := range group {
		op.fail(w.views, err)
	}
}

// retry commits a group again that was certainly not committed, without the charges whose
// callers have left: in halves if it ran out of time, or into a lock. The first half has the
// tokens of all charges, and half of the charges.
func (w *writer) retry(group []operation, err error) {
	w.retrying = true
	defer func() { w.retrying = false }()
	others := slices.IndexFunc(group, isCharge)
	half := (max(others, 0) + len(group)) / 2
	_, isLock := errors.AsType[*store.Locked](err)
	if !isLock && !errors.Is(err, context.DeadlineExceeded) { // the connection was lost
		half = len(group)
	}
	w.commit(group[:half])
	if w.down.Load() == nil {
		w.commit(group[half:])
	} else {
		w.fail(group[half:], store.Unavailable(err))
	}
}

// resolve asks the database for the outcome of an in-doubt commit until it
// gets one, and ends the group, or commits it again without the charges whose callers have
// left. No other group is committed meanwhile; callers wait for what is left of their second.
func (w *writer) resolve(doubt *store.InDoubt, ws *workingSet, group []operation) {
	for deadline := time.Now().Add(waitLimit); ; time.Sleep(waitLimit / 100) {
		committed, err := doubt.Committed(context.Background())
		switch {
		case err == nil && committed:
			w.settle(ws, group)
			return
		case err == nil && !w.retrying:
			w.retry(group, doubt)
			return
		case err == nil:
			err = doubt
		}
		w.markDown(err)
		if errors.Is(err, doubt) || w.isClosed() && time.Now().After(deadline) {
			w.fail(group, store.Unavailable(err))
			return
		}
	}
}

// Expired records are deleted in slices. After a full slice the next begins when
// five times its duration have passed since its beginning, so deletion takes a
// fifth of the writer's time at most.
const (
	purgeEvery   = time.Minute
	purgeRecords = 500     // in a slice
	purgeBytes   = 4 << 20 // in a slice
	purgeShare   = 5       // durations of a slice from one full slice to the next
)

// purge deletes one slice of expired records, with an operation for each account, if it is due. If
// the database cannot be read, it deletes none.
func (w *writer) purge(now time.Time) {
	if now.Before(w.nextPurge) {
		return
	}
	begun, byAccount, records, bytes, full := time.Now(), map[int64]*purgeOp{}, 0, int64(0), false
	var group []operation
	err := w.store.Query(context.Background(), store.Statement{Name: "list_expired_answers",
		Args: []any{w.views.clock.now().UnixNano(), purgeRecords}, Scan: func(r store.Row) error {
			var account, size int64
			var text string
			if err := r.Scan(&account, &text, &size); err != nil {
				return err
			}
			full = records == purgeRecords-1 || bytes >= purgeBytes
			if bytes >= purgeBytes {
				return nil
			}
			o := byAccount[account]
			if o == nil {
				o = &purgeOp{id: account}
				byAccount[account] = o
				group = append(group, o)
			}
			o.ids = append(o.ids, recordID{})
			records, bytes = records+1, bytes+size
			return fromHex(o.ids[len(o.ids)-1][:], text)
		}})
	if err == nil {
		w.commit(group)
	}
	w.nextPurge = now.Add(purgeEvery)
	if full {
		w.nextPurge = now.Add(purgeShare * time.Since(begun))
	}
}
