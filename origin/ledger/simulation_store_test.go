package ledger_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Simulated time: all that sleeps here runs in TestSimulation's bubble.

// Faults are what goes wrong in a simulation until its faults end.
type faults struct {
	outages   bool // transactions and queries are slow, fail, hang and commit in doubt
	locks     bool // another session locks the rows of an account
	rejects   bool // the database rejects the rows of an account
	crowd     bool // a thousand accounts send a request each while a transaction hangs
	operators bool // keys and accounts are changed

	pace time.Duration // the most that the disk takes for a transaction or a query; it never ends
}

// The time that a transaction takes grows with its statements. The largest commit group of a
// simulation needs less than the limit, and half of an unbounded one more.
const (
	timeOfStatement = time.Millisecond
	timeLimit       = time.Second
	lockLimit       = 150 * time.Millisecond
)

var (
	errLost = errors.New("simulated: the connection was lost")
	errLock = errors.New("simulated: another session has locked the row")
)

// A layer is between a replica and its database, and simulates the faults of both.
type layer struct {
	store.Store
	world *world
	mu    sync.Mutex
	rng   [2]*rand.Rand // of the writer's transactions, and of all else
	down  time.Time     // until then everything fails
	hangs time.Duration // how long the writer's next transaction does; see crowd
}

// A fault is what happens to one transaction or query.
type fault struct {
	before, after time.Duration // how long it takes to arrive, and its result to return
	fails         bool          // before anything happened
	doubt         bool          // its result is lost
	committed     bool          // if it is in doubt
	unknown       time.Duration // how long the outcome cannot be read
}

// next draws a fault.
func (l *layer) next(rng *rand.Rand) (f fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.before, f.after = upTo(rng, time.Millisecond), upTo(rng, l.world.faults.pace)
	f.committed = rng.IntN(2) == 0
	n, long := rng.IntN(100), upTo(rng, 3*time.Second)
	switch {
	case !l.world.faults.outages || l.world.quiet():
	case n < 8: // slow
		f.before, f.after = long/16, upTo(rng, time.Second/5)
	case n < 11:
		f.fails = true
	case n < 13: // hangs
		f.before, f.fails = long, f.committed
	case n < 14: // the result is late
		f.after = long
	case n < 17:
		f.doubt, f.after, f.unknown = true, long/4, upTo(rng, 2*time.Second)
	case n < 18:
		l.down = time.Now().Add(long)
	}
	f.fails = f.fails || time.Now().Before(l.down) && !l.world.quiet()
	return f
}

// hang makes the writer's next transaction hang.
func (l *layer) hang(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hangs = d
}

// Transact runs a transaction at one instant, since its rows are locked in the meantime and
// simulated time passes only while nothing waits for a mutex.
func (l *layer) Transact(ctx context.Context, t store.Transaction) error {
	rng := l.rng[1]
	if t.Marked {
		rng = l.rng[0]
	}
	f := l.next(rng)
	if t.Marked {
		l.mu.Lock()
		f.before, l.hangs = f.before+l.hangs, 0
		l.mu.Unlock()
	}
	time.Sleep(f.before)
	if f.fails {
		return errLost
	}
	var failure error
	took := time.Duration(0)
	inner := store.Transaction{Marked: t.Marked, Reads: func() (list []store.Statement) {
		if t.Reads != nil {
			list, failure = l.world.lockRows(t.Reads())
		}
		return list
	}}
	inner.Decide = func(now time.Time) ([]store.Statement, error) {
		if failure != nil {
			took = lockLimit
			return nil, failure
		}
		list, err := t.Decide(now)
		took = time.Duration(len(list)) * timeOfStatement
		switch {
		case err != nil:
		case took > timeLimit:
			took, failure = timeLimit, fmt.Errorf("simulated: %d statements: %w", len(list), context.DeadlineExceeded)
		case f.doubt && !f.committed:
			failure = errLost
		}
		return list, cmp.Or(err, failure)
	}
	l.world.disk <- struct{}{}
	err := l.Store.Transact(ctx, inner)
	<-l.world.disk
	known := time.Now().Add(took + f.after + f.unknown)
	time.Sleep(took + f.after)
	switch {
	case !f.doubt || failure != nil && failure != errLost || err != nil && failure == nil:
		return err
	case !t.Marked:
		return errLost
	}
	return &store.InDoubt{Err: errLost, Committed: func(context.Context) (bool, error) {
		if time.Now().Before(known) {
			return false, errLost
		}
		return f.committed, nil
	}}
}

// Query returns what the database had at one instant, maybe much later.
func (l *layer) Query(ctx context.Context, s store.Statement) error {
	f := l.next(l.rng[1])
	if err := sleep(ctx, f.before); err != nil || f.fails {
		return cmp.Or(err, errLost)
	}
	if err := l.Store.Query(context.WithoutCancel(ctx), s); err != nil {
		return err
	}
	return sleep(ctx, f.after)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lockRows simulates the locks of rows, which SQLite does not have: it returns the statements
// that do not lock, or the error of one that waits for a locked account in vain.
func (w *world) lockRows(list []store.Statement) (rest []store.Statement, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range list {
		switch s.Name {
		case "lock_accounts":
			if slices.ContainsFunc(accountsOf(s), func(id int64) bool { return w.locked[id] != 0 }) {
				return nil, &store.Locked{Err: errLock}
			}
			rest = append(rest, s)
		case "lock_free_accounts":
			for _, id := range accountsOf(s) {
				if w.locked[id] == 0 {
					err = cmp.Or(err, s.Scan(numbers{id}))
				}
			}
		default:
			rest = append(rest, s)
		}
	}
	return rest, err
}

// accountsOf returns the accounts that a statement locks: its argument is a list in JSON of rows
// that begin with an ID.
func accountsOf(s store.Statement) (ids []int64) {
	var rows [][]any
	if err := json.Unmarshal([]byte(s.Args[0].(string)), &rows); err != nil {
		panic(err)
	}
	for _, row := range rows {
		ids = append(ids, int64(row[0].(float64)))
	}
	return ids
}

// numbers are a row of a result.
type numbers []int64

func (n numbers) Scan(into ...any) error {
	for i, p := range into {
		*p.(*int64) = n[i]
	}
	return nil
}

// upTo draws a duration. It is random to the nanosecond, so that hardly ever two things happen
// at one instant, whose order the seed would not decide.
func upTo(rng *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(most))) + 1
}
