package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// commit runs a group in one transaction and ends its operations. A group that
// the database rejects for its data is bisected, so that one bad row fails only
// its own operation.
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
	alone := false
	reads := func() []store.Statement {
		ws = newWorkingSet()
		return ws.reads(w.views.fill(ws, rs, alone))
	}
	err = w.store.Transact(context.Background(), store.Transaction{Alone: func() { alone = true }, Reads: reads, Marked: true,
		Decide: func(now time.Time) ([]store.Statement, error) {
			ws.instant = w.clock.monotonic()
			ws.now = w.clock.observe(now)
			ws.month = w.clock.month(ws.now)
			for _, op := range group {
				op.decide(ws)
			}
			w.announce(ws, group)
			list := ws.statements()
			ws.changes = len(list) > 0
			return list, nil
		}})
	if err != nil {
		w.views.distrust()
	}
	return ws, err
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

// settle publishes the rows of a committed group to the views and answers its
// callers.
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

// fail ends a group that was not committed, and marks the database as down.
func (w *writer) fail(group []operation, err error) {
	w.markDown(err)
	for _, op := range group {
		op.fail(unavailable(err))
	}
}

// markDown marks the database as down until a commit succeeds.
func (w *writer) markDown(err error) {
	if w.down.Swap(&err) == nil {
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

// retry commits the tickets of a group that was not committed again, unless their
// callers have left, with what was queued since. Its voids and tokens are
// collected again.
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
