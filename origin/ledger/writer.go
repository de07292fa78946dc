package ledger

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Bounds of the writer.
const (
	queueLimit         = 4096    // tickets that wait
	groupLimit         = 256     // charges in a commit group
	tallyLimit         = 256     // tallies in a commit group
	tokenLimit         = 512     // keys with pending tokens in a commit group, or those of its charges' accounts
	responseBytesLimit = 4 << 20 // bytes of responses to store in a commit group

	sendTimeout = 100 * time.Millisecond // after it, a response counts as sent

	tickEvery  = lateness / 2 // between commits of pending tokens
	tallyEvery = time.Second  // between commits of tallies
	probeEvery = 250 * time.Millisecond
)

// A writer commits charges. Only its goroutine, run, charges on this replica.
type writer struct {
	*Ledger
	queue   chan *ticket
	started time.Time
	txBegan atomic.Int64                  // when the group in progress began, in ns since started; 0 if none
	down    atomic.Pointer[outage]        // nil while the database commits
	changed atomic.Pointer[chan struct{}] // closed at the end of the next transaction; nil if nothing waits for it

	// Used by run only.
	voids    []*chargeOp // charges to void with the next group
	unsent   []*sendingGroup
	retries  []*ticket // that go before the queue: beyond the room of a group
	retrying bool      // the second and last attempt of a group is in progress
	more     bool      // the last group had no room for all tokens and tallies that were due
	settled  bool      // a part of it was committed
	putOff   []*ticket // of accounts that another session has locked
	freed    bool      // such a lock was released, or has moved on, since a group was collected

	nextTally, nextProbe, nextPurge time.Time

	mu     sync.RWMutex // read-locked to send to queue, locked to close it
	closed bool
	done   chan struct{} // closed when run has returned
}

func newWriter(l *Ledger) *writer {
	return &writer{Ledger: l, queue: make(chan *ticket, queueLimit), started: time.Now(), done: make(chan struct{})}
}

var errHangs = errors.New("a transaction has hung for a second")

// An outage is why the database does not commit, and since when.
type outage struct {
	err   error
	since time.Time
}

// failing returns nil if the database commits and no transaction hangs, else an
// error that wraps ErrUnavailable.
func (w *writer) failing() error {
	if o := w.outage(); o != nil {
		return unavailable(o.err)
	}
	return nil
}

func (w *writer) outage() *outage {
	if o := w.down.Load(); o != nil {
		return o
	}
	if began := w.txBegan.Load(); began != 0 {
		if since := w.started.Add(time.Duration(began)); time.Since(since) > w.wait {
			return &outage{errHangs, since}
		}
	}
	return nil
}

// A disk that is busy, or a server that restarts, recovers within seconds. Meanwhile requests
// wait for it, each for most of its second, rather than be refused at once and come back together.
const (
	recovery   = 30 * time.Second // of an outage; a longer one refuses at once
	maxWaiting = 4096             // requests that wait, of which maxInProgress of an account
)

// awaitCommits returns nil once the database commits, and how long it has waited. It waits
// only for a secret with a view, so nobody without a key holds a place.
func (w *writer) awaitCommits(ctx context.Context, at digest) (waited time.Duration, err error) {
	if w.outage() == nil {
		return 0, nil
	}
	account := w.views.beginWait(at)
	if account == nil {
		return 0, w.failing()
	}
	defer w.views.endWait(account)
	began, timer := time.Now(), time.NewTimer(w.wait*3/4) // the charge may wait as well
	defer timer.Stop()
	for {
		changed := w.change()
		o := w.outage()
		if o == nil {
			return time.Since(began), nil
		}
		if time.Since(o.since) > w.recovery {
			return 0, unavailable(o.err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-timer.C:
			return 0, unavailable(o.err)
		}
	}
}

// change returns a channel that is closed at the end of the next transaction.
func (w *writer) change() <-chan struct{} {
	for next := make(chan struct{}); ; {
		if c := w.changed.Load(); c != nil {
			return *c
		}
		if w.changed.CompareAndSwap(nil, &next) {
			return next
		}
	}
}

func (w *writer) wake() {
	if c := w.changed.Swap(nil); c != nil {
		close(*c)
	}
}

func (w *writer) run() {
	defer close(w.done)
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for open := true; open; {
		select {
		case t, ok := <-w.queue:
			if open = ok; ok {
				w.serve(t)
			}
		case now := <-tick.C:
			w.maintain(now)
		}
	}
	w.nextTally = time.Time{}
	w.serve(nil) // voids, tokens, tallies and charges that are left
	for _, t := range w.putOff {
		t.finish(Decision{}, unavailable(errLocked))
	}
}

// serve commits groups, the first with a ticket unless it is nil, until no ticket goes
// before the queue, and no token or tally was left out for want of room.
func (w *writer) serve(first *ticket) {
	for again := true; again; first = nil {
		w.freed, w.settled = false, false
		w.commit(w.collect(first))
		again = len(w.retries) > 0 || w.freed && len(w.putOff) > 0 || w.more && w.settled
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

// collect returns the next group: voids, pending tokens, tallies, then the
// charge first, if any, with those queued behind it. It waits for no further
// charges.
func (w *writer) collect(first *ticket) []operation {
	if first != nil {
		// Callers that just got a result submit their next charges first. This
		// fills groups half as much again and costs nothing without such callers.
		runtime.Gosched()
	}
	charges := w.charges(first)
	var group []operation
	for _, c := range w.voids {
		group = append(group, &voidOp{c, w})
	}
	group = w.tokenOps(group, charges)
	group = w.tallyOps(group)
	for _, t := range charges {
		t.op = chargeOp{ticket: t, writer: w}
		group = append(group, &t.op)
	}
	return group
}

// charges returns the charges of the next group: those that go before the queue, those
// whose locked accounts may be tried again, then the queue's.
func (w *writer) charges(first *ticket) (list []*ticket) {
	due := slices.Concat(w.retries, w.putOff)
	if w.retries, w.putOff = nil, nil; first != nil {
		due = append(due, first)
	}
	room, bytes := w.capacity(), int64(0)
	full := func() bool { return len(list) >= room || bytes >= responseBytesLimit }
	tried := map[int64]bool{}
	add := func(t *ticket) {
		switch {
		case !t.waits():
		case w.views.isPutOff(t.request.accountID, tried):
			w.putOff = append(w.putOff, t)
		case full():
			w.retries = append(w.retries, t)
		default:
			list, bytes = append(list, t), bytes+t.size
		}
	}
	for _, t := range due {
		add(t)
	}
	for !full() {
		select {
		case t := <-w.queue:
			if t == nil { // closed
				return list
			}
			add(t)
		default:
			return list
		}
	}
	return list
}

// A sendingGroup counts the responses of one commit group that are committed and not
// yet sent. They reduce the capacity of the next groups, so a process that is killed
// leaves at most groupLimit charged requests without a response.
type sendingGroup struct {
	began time.Time
	left  atomic.Int64
}

// capacity waits until the next group may have at least one charge, and returns
// how many. Responses count for sendTimeout at most, so a client that does not
// read its response delays others no longer than that.
func (w *writer) capacity() int {
	for ; ; time.Sleep(pollUnsent) {
		count := int64(0)
		w.unsent = slices.DeleteFunc(w.unsent, func(s *sendingGroup) bool {
			left := s.left.Load()
			over := left == 0 || time.Since(s.began) > sendTimeout
			if !over {
				count += left
			}
			return over
		})
		if room := groupLimit - int(count); room > 0 {
			return room
		}
	}
}

const pollUnsent = 200 * time.Microsecond

// tokenOps appends the pending tokens of the accounts of the charges, since a charge is decided
// after its token, and those of other accounts for which the group has room. Which these are is
// random, so none waits for ever.
func (w *writer) tokenOps(group []operation, charges []*ticket) []operation {
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	added, rs := map[*accountView]bool{}, &readSet{rows: map[rowKey]bool{}}
	add := func(a *accountView) {
		if w.views.pending[a] && !added[a] {
			op := &tokenOp{account: a, id: a.id, tokens: a.pending[:len(a.pending):len(a.pending)], writer: w}
			op.addReads(rs)
			added[a], group = true, append(group, op)
		}
	}
	for _, t := range charges {
		add(t.request.account)
	}
	for a := range w.views.pending {
		if len(rs.rows) >= tokenLimit {
			break
		}
		add(a)
	}
	w.more = len(added) < len(w.views.pending)
	return group
}

// tallyOps appends tallies of requests that were not charged. They are due once per
// tallyEvery, and then until none is left.
func (w *writer) tallyOps(group []operation) []operation {
	now := time.Now()
	if now.Before(w.nextTally) {
		return group
	}
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	before := len(group)
	for at, t := range w.views.tallies {
		if len(group)-before == tallyLimit {
			w.more = true
			return group
		}
		group = append(group, &tallyOp{at, t, w})
		delete(w.views.tallies, at)
	}
	w.nextTally = now.Add(w.tally)
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

// commit runs a group in one transaction and ends its operations. A group that
// the database rejects for its data is bisected, so that one bad row fails only
// its own operation. One that runs out of time is halved once.
func (w *writer) commit(group []operation) {
	if len(group) == 0 {
		return
	}
	begun := time.Now()
	defer w.wake()
	if w.txBegan.CompareAndSwap(0, max(1, int64(begun.Sub(w.started)))) { // else the group is a part of another
		defer w.txBegan.Store(0)
	}
	ws, err := w.transact(group)
	group = w.putOffLocked(ws, group)
	w.stats.count(func(s *Stats) { s.transaction(group, time.Since(begun), err) })
	defer w.stats.count(func(s *Stats) { s.Undecided = len(w.voids) })
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
	case errors.Is(err, context.DeadlineExceeded) && len(group) > 1 && !w.retrying:
		w.retry(group, err)
	default:
		w.fail(group, err)
	}
}

// transaction counts a transaction.
func (s *Stats) transaction(group []operation, took time.Duration, err error) {
	s.Busy, s.Slowest = s.Busy+took, max(s.Slowest, took)
	if err != nil {
		s.Failures++
		return
	}
	charges := 0
	for _, op := range group {
		if _, ok := op.(*chargeOp); ok {
			charges++
		}
	}
	s.Commits++
	s.Charges += int64(charges)
	s.Largest = max(s.Largest, charges)
}

// Locks of other sessions. Replicas that charge the same account take turns, so a group
// waits for the lock of an account. If it waits in vain, it goes on without the accounts
// that are locked, whose operations are put off. The next groups do not wait for a lock
// that the same transaction still has: it belongs to a session that hangs, such as an
// operator's, and costs the other accounts one wait. A lock that has moved on to another
// transaction is one of replicas at work.
//
// Rows of other tables are written under the lock of the account, so only an operator
// locks them alone. Which account they belong to is known once a write has waited in vain;
// then nothing is tried for it for a while.
const (
	lockWait       = 250 * time.Millisecond // for each account's lock
	writeLockWait  = 25 * time.Millisecond  // for each lock after that
	writeLockPause = 4 * writeLockWait
	lockTries      = 12 // transactions of a group
)

// transact runs a group in a transaction, without the accounts that other sessions have
// locked. It returns a *store.Locked only if the database as a whole is locked, such as
// the tables.
func (w *writer) transact(group []operation) (ws *workingSet, err error) {
	locked, avoid := w.views.lockedAccounts()
	hurry := false
	for try := 1; ; try++ {
		ws, err = w.tryTransact(group, locked, avoid, hurry)
		l, isLock := errors.AsType[*store.Locked](err)
		switch {
		case !isLock || try == lockTries:
			return ws, err
		case l.Write == nil && hurry:
			return ws, err
		case l.Write == nil:
			hurry = true
			w.stats.count(func(s *Stats) { s.LockWaits++ })
		case l.Write.Name == "probe": // a database that only reads refuses it before it looks for locks
			ws.changes = true
			return ws, nil
		default:
			account := ws.accountOf(l.Write)
			locked[account] = true
			w.views.pause(account, writeLockPause)
		}
	}
}

// tryTransact runs a transaction without the locked accounts, to which it adds those that
// it finds locked. It does not wait for the locks of accounts to avoid; in a hurry for none.
func (w *writer) tryTransact(group []operation, locked, avoid map[int64]bool, hurry bool) (ws *workingSet, err error) {
	rs := readSetOf(group)
	alone := false
	ws = &workingSet{locked: locked}
	reads := func() []store.Statement {
		ws = newWorkingSet()
		ws.locked = locked
		list := ws.reads(w.views.fill(ws, rs, alone), avoid, hurry)
		if len(list) > 0 {
			list = append(slices.Insert(list, 0, limitLockWait(lockWait)), limitLockWait(writeLockWait))
		}
		return list
	}
	guess := func(now time.Time) (expected, writes []store.Statement) {
		ws = newWorkingSet()
		if expected = w.views.guess(ws, rs); expected == nil {
			return nil, nil
		}
		return expected, w.decide(ws, group, now)
	}
	if hurry || len(locked)+len(avoid) > 0 || !rs.mayBeGuessed() {
		guess = nil
	}
	err = w.store.Transact(context.Background(), store.Transaction{Alone: func() { alone = true }, Guess: guess, Reads: reads, Marked: true,
		Decide: func(now time.Time) ([]store.Statement, error) {
			ws.findLocked()
			return w.decide(ws, group, now), nil
		}})
	if err != nil {
		w.views.distrust()
	}
	return ws, err
}

// decide decides about a group at the database's time, and returns what to write.
func (w *writer) decide(ws *workingSet, group []operation, now time.Time) []store.Statement {
	ws.instant = w.clock.monotonic()
	ws.now = w.clock.observe(now)
	ws.month = w.clock.month(ws.now)
	decided, _ := ws.split(group)
	for _, op := range decided {
		op.decide(ws)
	}
	w.announce(ws, decided)
	list := ws.statements()
	ws.changes = len(list) > 0
	return list
}

// announce records in the views what the group writes to the buckets.
func (w *writer) announce(ws *workingSet, group []operation) {
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	for _, op := range group {
		if tokens, ok := op.(*tokenOp); ok {
			tokens.announce(ws)
		}
	}
}

// putOffLocked puts off the operations of a group whose accounts are locked and returns
// the others.
func (w *writer) putOffLocked(ws *workingSet, group []operation) []operation {
	rest, locked := ws.split(group)
	for _, op := range locked {
		op.fail(errLocked)
	}
	long, moved := w.views.markLocked(ws)
	w.freed = w.freed || moved
	for _, account := range long {
		w.log.Warn("another session has locked an account for a second; its requests get 503 until the lock is released", "account", account)
	}
	return rest
}

// settle publishes the rows of a committed group to the views and returns
// the results to the callers.
func (w *writer) settle(ws *workingSet, group []operation) {
	if ws.changes && w.down.Swap(nil) != nil {
		w.log.Info("the database commits again")
	}
	w.settled = w.settled || len(group) > 0
	w.unsent = append(w.unsent, &sendingGroup{began: time.Now()})
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	locked := len(w.views.locked)
	w.views.publishGroup(ws)
	w.freed = w.freed || len(w.views.locked) < locked
	for _, op := range group {
		op.settle(w.views)
	}
}

// fail ends a group that was not committed, and marks the database as down.
func (w *writer) fail(group []operation, err error) {
	w.markDown(err)
	for _, op := range group {
		op.fail(unavailable(err))
	}
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

// resolve asks the database for the outcome of an in-doubt commit until it
// gets one, and ends or retries the group. No other group is committed
// meanwhile; callers wait for what is left of their second.
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
			w.retry(group, doubt)
			return
		}
		w.markDown(err)
		if w.isClosed() && time.Now().After(deadline) {
			w.fail(group, err)
			return
		}
	}
}

// retry commits a group again that was certainly not committed, without the charges whose
// callers have left. If it ran out of time, it is committed in halves.
func (w *writer) retry(group []operation, err error) {
	w.retrying = true
	defer func() { w.retrying = false }()
	if !errors.Is(err, context.DeadlineExceeded) {
		w.commit(group)
		return
	}
	first, second := halves(group)
	w.commit(first)
	if w.down.Load() == nil {
		w.commit(second)
	} else {
		w.fail(second, err)
	}
}

// halves splits a group into halves of every kind of operation. The first half is committed
// first, and has the tokens of the accounts that it charges.
func halves(group []operation) (first, second []operation) {
	charged := map[int64]bool{} // whether the first half charges an account that one of them charges
	for i, op := range slices.Backward(group) {
		early, account := i%2 == 0, op.concerns()
		switch op.(type) {
		case *chargeOp:
			charged[account] = charged[account] || early
		case *tokenOp: // comes before the charges
			if with, known := charged[account]; known {
				early = with
			}
		}
		if early {
			first = append(first, op)
		} else {
			second = append(second, op)
		}
	}
	slices.Reverse(first)
	slices.Reverse(second)
	return first, second
}
