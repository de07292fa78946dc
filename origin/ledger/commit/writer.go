// Package commit has the one writer of a replica. Only its goroutine charges, and it runs the only
// transactions that do: it collects the tickets that wait into a commit group, reads the rows under
// locks, has the operations of package state decide, writes what changed, commits and publishes
// the rows to the views. Charges that arrive during a commit wait for the next group, so one flush
// serves many of them.
package commit

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/state"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Bounds of the writer.
const (
	queueLimit         = 4096    // tickets that wait
	groupLimit         = 256     // charges in a commit group
	responseBytesLimit = 4 << 20 // bytes of responses to store in a commit group

	tickEvery  = state.Lateness / 2 // between commits of pending tokens
	probeEvery = 250 * time.Millisecond
)

// ErrClosed means that Close was called before the charge was submitted.
var ErrClosed = errors.New("the ledger is closed")

// A Writer commits charges.
type Writer struct {
	*health
	store store.Store
	queue chan *state.Ticket

	// Used by run only.
	locked   map[int64]time.Time // accounts that another session has locked, and until when groups leave them out
	retrying bool                // the second and last attempt of a group is in progress
	more     bool                // the last group had no room for all tokens and tallies that were due
	settled  bool                // a part of it was committed

	nextTally, nextProbe, nextPurge time.Time

	closing sync.RWMutex // read-locked to send to queue, locked to close it
	closed  bool
	done    chan struct{} // closed when run has returned

	counter counter
}

// Start starts a writer.
func Start(s store.Store, v *state.Views, log *slog.Logger, t *Timing) *Writer {
	w := &Writer{health: newHealth(v, log, t), store: s, queue: make(chan *state.Ticket, queueLimit),
		locked: map[int64]time.Time{}, done: make(chan struct{})}
	go w.run()
	return w
}

// Charge charges a request and waits for the result, for at most limit. The error is ErrUndecided if
// the limit passes while a transaction decides the charge.
func (w *Writer) Charge(ctx context.Context, t *state.Ticket, limit time.Duration) (state.Decision, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	err := w.enqueue(ctx, t, timer.C)
	var d state.Decision
	if err == nil {
		d, err = t.Await(ctx, timer.C)
	}
	if errors.Is(err, state.ErrLate) {
		err = store.Unavailable(err)
	}
	return d, err
}

func (w *Writer) enqueue(ctx context.Context, t *state.Ticket, late <-chan time.Time) error {
	w.closing.RLock()
	defer w.closing.RUnlock()
	if w.closed {
		return ErrClosed
	}
	select {
	case w.queue <- t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late:
		return state.ErrLate
	}
}

func (w *Writer) run() {
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
func (w *Writer) serve(first *state.Ticket) {
	for again := true; again; first = nil {
		w.settled = false
		w.commit(w.collect(first))
		again = w.more && w.settled
	}
}

// maintain commits what no caller waits for: voids, tokens, tallies and the
// deletion of expired records. While the database is down it only probes.
func (w *Writer) maintain(now time.Time) {
	if w.down.Load() == nil {
		w.serve(nil)
		w.purge(now)
		return
	}
	if now.After(w.nextProbe) {
		w.nextProbe = now.Add(probeEvery)
		w.commit([]state.Operation{state.Probe()})
	}
}

// Close refuses further tickets, commits those that wait and ends the writer.
// It returns false if the writer was closed before.
func (w *Writer) Close() bool {
	w.closing.Lock()
	already := w.closed
	w.closed = true
	if !already {
		close(w.queue)
	}
	w.closing.Unlock()
	<-w.done
	return !already
}

var errLocked = errors.New("another replica, or an operator's session, has locked the account for too long")

// lockMemory is how long groups leave an account out that another session has locked.
const lockMemory = time.Second

// Stats returns the counters and the length of the queue.
func (w *Writer) Stats() Stats {
	w.counter.mu.Lock()
	defer w.counter.mu.Unlock()
	s := w.counter.Stats
	s.Waiting = len(w.queue)
	return s
}

// collect returns the next group, with the charge first, if any, and those queued behind it. It
// waits for no further charges. Accounts that were found locked lately are left out, and their
// charges fail.
func (w *Writer) collect(first *state.Ticket) (group []state.Operation) {
	now := time.Now()
	maps.DeleteFunc(w.locked, func(_ int64, until time.Time) bool { return now.After(until) })
	skip := func(account int64) bool { _, locked := w.locked[account]; return locked }
	if first != nil {
		// Callers that just got a result submit their next charges first. This
		// fills groups half as much again and costs nothing without such callers.
		runtime.Gosched()
	}
	var charges []*state.Ticket
	bytes := int64(0)
	for t := first; t != nil; {
		switch {
		case !t.Waits():
		case skip(t.Account()):
			t.Refuse(store.Unavailable(errLocked))
		default:
			charges, bytes = append(charges, t), bytes+t.Size()
		}
		t = nil
		if len(charges) < groupLimit && bytes < responseBytesLimit {
			select {
			case t = <-w.queue:
			default:
			}
		}
	}
	due := !now.Before(w.nextTally)
	group, w.more = w.views.Group(charges, due, skip)
	if due && !w.more {
		w.nextTally = now.Add(w.timing.Tally)
	}
	return group
}

// commit runs a group in one transaction and ends its operations. A group that
// the database rejects for its data is bisected, so that one bad row fails only
// its own operation. One that runs out of time, or into a lock of the whole database, is
// halved once. Tokens come before the charges in each group, so they do in its halves.
func (w *Writer) commit(group []state.Operation) {
	if len(group) == 0 {
		return
	}
	begun := time.Now()
	defer w.begin()()
	ws, lockWaits, err := w.transact(group)
	decided, locked := ws.split(group)
	w.views.Fail(locked, store.Unavailable(errLocked))
	charges := 0
	for _, op := range decided {
		if isCharge(op) {
			charges++
		}
	}
	w.counter.count(charges, time.Since(begun), err, lockWaits, len(w.locked))
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
				"operation", op.Name(), "account", op.Account(), "error", err.Error())
		}
		w.views.Fail(decided, state.ErrRecord)
	case (isLock || errors.Is(err, context.DeadlineExceeded)) && len(decided) > 1 && !w.retrying:
		w.retry(decided, err)
	default:
		w.markDown(err)
		w.views.Fail(decided, store.Unavailable(err))
	}
}

const lockTries = 4

// transact runs a group in a transaction. If it waits in vain for a lock of another session, it
// runs once more without the accounts that are locked then. Replicas that charge the same account
// take turns, so a group waits for an account's lock at first. Rows of other tables are
// written under the lock of the account: only an operator locks them alone, so only the write that
// waits in vain shows their account, which the next attempt leaves out. It returns a
// *store.Locked only if the database as a whole is locked, such as the tables.
func (w *Writer) transact(group []state.Operation) (ws *workingSet, lockWaits int, err error) {
	needs := &state.Needs{Rows: map[state.RowAt]bool{}, Records: map[state.RecordAt]bool{}}
	for _, op := range group {
		op.AddNeeds(needs)
	}
	locked := map[int64]bool{} // by statements of other tables
	t := store.Transaction{Marked: true}
	t.Reads = func() []store.Statement {
		ws = newWorkingSet()
		return ws.reads(needs, lockWaits > 0)
	}
	t.Decide = func(now time.Time) ([]store.Statement, error) {
		if lockWaits > 0 {
			maps.Copy(ws.locked, locked)
			ws.dropLocked()
		}
		ws.Now, ws.Instant = w.views.Clock.Observe(now)
		decided, _ := ws.split(group)
		for _, op := range decided {
			op.Decide(ws.Rows)
		}
		w.views.Announce(ws.Rows, decided)
		list := ws.statements()
		ws.writes = len(list) > 0
		return list, nil
	}
	for {
		ws = newWorkingSet() // Reads may not be called
		err = w.store.Transact(context.Background(), t)
		l, isLock := errors.AsType[*store.Locked](err)
		if !isLock || lockWaits == lockTries-1 || lockWaits > 0 && l.Account == 0 {
			break
		}
		lockWaits++
		if l.Account != 0 {
			locked[l.Account] = true
		}
	}
	for id := range ws.locked {
		if w.locked[id].IsZero() {
			w.log.Warn("another session has locked an account; its requests get 503 while the lock lasts",
				"account", id)
		}
		w.locked[id] = time.Now().Add(lockMemory)
	}
	return ws, lockWaits, err
}

func (w *Writer) settle(ws *workingSet, group []state.Operation) {
	if ws.writes && w.down.Swap(nil) != nil {
		w.log.Info("the database commits again")
	}
	w.settled = w.settled || len(group) > 0
	w.views.Publish(ws.Rows, group)
}

func isCharge(op state.Operation) bool {
	_, ok := op.(*state.Ticket)
	return ok
}

// retry commits a group again that was certainly not committed, without the charges whose
// callers have left: in halves if it ran out of time, or into a lock. The first half has the
// tokens of all charges, and half of the charges.
func (w *Writer) retry(group []state.Operation, err error) {
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
		w.views.Fail(group[half:], store.Unavailable(err))
	}
}

// resolve asks the database for the outcome of an in-doubt commit until it
// gets one, and ends the group, or commits it again without the charges whose callers have
// left. No other group is committed meanwhile; callers wait for what is left of their second.
func (w *Writer) resolve(doubt *store.InDoubt, ws *workingSet, group []state.Operation) {
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
		w.closing.RLock()
		closed := w.closed
		w.closing.RUnlock()
		if errors.Is(err, doubt) || closed && time.Now().After(deadline) {
			w.views.Fail(group, store.Unavailable(err))
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

// purge deletes one slice, if it is due; none if the database cannot be read.
func (w *Writer) purge(now time.Time) {
	if now.Before(w.nextPurge) {
		return
	}
	begun, expired, records, bytes, full := time.Now(), map[int64][]state.Hash{}, 0, int64(0), false
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit) // because charges and Close wait meanwhile
	defer cancel()
	err := w.store.Query(ctx, store.Statement{Name: "list_expired_answers",
		Args: []any{w.views.Clock.Now().UnixNano(), purgeRecords}, Scan: func(r store.Row) error {
			var account, size int64
			var id state.Hash
			err := r.Scan(&account, &id, &size)
			full = records == purgeRecords-1 || bytes >= purgeBytes
			if bytes < purgeBytes {
				expired[account] = append(expired[account], id)
				records, bytes = records+1, bytes+size
			}
			return err
		}})
	if err == nil {
		var group []state.Operation
		for account, ids := range expired {
			group = append(group, state.Purge(account, ids))
		}
		w.commit(group)
	}
	w.nextPurge = now.Add(purgeEvery)
	if full {
		w.nextPurge = now.Add(purgeShare * time.Since(begun))
	}
}
