package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// lockRows locks rows by a transaction of another session, as an operator could who
// forgets it, until unlock is called.
func (f *fixture) lockRows(query string) (unlock func()) {
	f.Helper()
	conn, err := pgx.Connect(f.ctx, f.url)
	require.NoError(f, err)
	_, err = conn.Exec(f.ctx, "BEGIN; "+query)
	require.NoError(f, err)
	return func() { require.NoError(f, conn.Close(f.ctx)) }
}

// lockAccount locks the fixture's account.
func (f *fixture) lockAccount() (unlock func()) {
	f.Helper()
	return f.lockRows(fmt.Sprintf("SELECT FROM accounts WHERE id = %d FOR UPDATE", f.account))
}

// isLocked reports whether an account was found locked and not charged since.
func (v *views) isLocked(id int64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.locked[id] != nil
}

// awaitLocked waits until the writer has found the account locked.
func (f *fixture) awaitLocked() {
	f.Helper()
	require.Eventually(f, func() bool { return f.views.isLocked(f.account) }, hung, time.Millisecond)
}

// If another session keeps the lock of an account, because a replica vanished or
// an operator forgot a transaction, its requests fail within the bound.
func TestPostgresRowLockTimeout(t *testing.T) {
	f := newFixture(t, pgtest.NeedDatabase(t), unlimitedTerms)
	f.request(1)
	for n, lock := range []string{"SELECT FROM accounts FOR UPDATE", "UPDATE usage SET points = points"} {
		unlock := f.lockRows(lock)
		err := f.chargeInHurry(1, nil)
		require.True(t, isStall(err), "a write may be waiting at the moment: %v", err)
		if n == 0 && errors.Is(err, ErrUnavailable) { // on a busy machine the charge may be undecided
			require.Regexp(t, "has locked the account for too long|did not respond in time", err.Error())
		}
		require.NoError(t, f.Ready(f.ctx))
		unlock()
		f.awaitReady()
		require.EqualValues(t, 2+n, f.request(1).Usage.Current)
	}
	require.Nil(t, f.writer.down.Load())
}

// While another session has locked rows of one account, whatever its table, more requests
// of it than a commit group has room for delay no request of another account.
func TestPostgresLockedAccountHarmsNoOther(t *testing.T) {
	for name, lock := range map[string]string{
		"account": "SELECT FROM accounts WHERE id = 1 FOR UPDATE",
		"key":     "UPDATE keys SET used = used WHERE account = 1",
		"history": "UPDATE usage SET points = points WHERE account = 1",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, pgtest.NeedDatabase(t), Terms{Rate: limit(maxRate), Points: limit(Unlimited)})
			require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Terms: &KeyTerms{Budget: limit(maxPoints)}}))
			other := f.otherAccount("other@example.com")
			require.Equal(t, Good, f.request(1).Kind)
			unlock := f.lockRows(lock)

			left, leave := context.WithCancel(f.ctx)
			var waiting sync.WaitGroup
			var charged, refused atomic.Int64
			for range 2 * groupLimit {
				waiting.Go(func() {
					if d, err := f.tryRequest(left, f.secret, 1, nil); err == nil && d.Kind == Good {
						charged.Add(1)
					}
				})
			}
			f.awaitLocked()
			inParallel(4, func(int) {
				for range 50 {
					if d, err := other.tryRequest(f.ctx, other.secret, 1, nil); err != nil || d.Kind != Good {
						refused.Add(1)
					}
				}
			})
			require.Zero(t, refused.Load())
			require.Zero(t, charged.Load())
			require.NoError(t, f.Ready(f.ctx))
			unlock()
			require.Eventually(t, func() bool { return charged.Load() > 0 }, hung, time.Millisecond)
			leave()
			waiting.Wait()
			require.EqualValues(t, 200, other.history().Points)
			require.EqualValues(t, 1+charged.Load(), f.used())
			require.EqualValues(t, 1+charged.Load(), f.history().Points)
		})
	}
}

// A group of many accounts writes their rows together. If another session has locked the row
// of one, the others are charged.
func TestPostgresManyAccountsInAGroup(t *testing.T) {
	for name, lock := range map[string]string{"key": "UPDATE keys SET used = used WHERE account = 1", "history": "UPDATE usage SET points = points WHERE account = 1"} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, pgtest.NeedDatabase(t), unlimitedTerms)
			all := []*fixture{f}
			for n := range 40 {
				all = append(all, f.otherAccount(fmt.Sprintf("other%d@example.com", n)))
			}
			for _, a := range all {
				require.NoError(t, f.ChangeKey(f.ctx, a.account, a.key.ID, KeyChange{Terms: &KeyTerms{Budget: limit(maxPoints)}}))
			}
			rounds := int64(0)
			for round := func() { inParallel(len(all), func(n int) { all[n].request(1) }) }; f.Stats().Largest < len(all)/2; rounds++ {
				round()
			}
			f.requireRows(len(all), rounds)
			unlock := f.lockRows(lock)
			left, leave := context.WithCancel(f.ctx)
			var first sync.WaitGroup
			var charged atomic.Int64
			first.Go(func() {
				if d, err := f.tryRequest(left, f.secret, 1, nil); err == nil && d.Kind == Good {
					charged.Add(1)
				}
			})
			var refused atomic.Int64
			inParallel(8*(len(all)-1), func(n int) {
				other := all[1+n%(len(all)-1)]
				if d, err := other.tryRequest(f.ctx, other.secret, 1, nil); err != nil || d.Kind != Good {
					refused.Add(1)
				}
			})
			require.Zero(t, refused.Load())
			require.Zero(t, charged.Load())
			unlock()
			leave()
			first.Wait()
			for n, a := range all {
				want := rounds + 8
				if n == 0 {
					want = rounds + charged.Load()
				}
				require.Equal(t, want, a.used())
				require.Equal(t, want, a.history().Points)
			}
		})
	}
}

// requireRows requires that the rows of accounts have the points of so many requests for one
// each, in every column that a charge writes.
func (f *fixture) requireRows(accounts int, points int64) {
	f.Helper()
	conn, err := pgx.Connect(f.ctx, f.url)
	require.NoError(f, err)
	defer conn.Close(f.ctx)
	var found int
	require.NoError(f, conn.QueryRow(f.ctx, `
		SELECT count(*) FROM accounts a JOIN keys k ON k.account = a.id JOIN usage u ON u.account = a.id AND u.key = k.id
		 WHERE a.month = k.month AND a.stored = 0 AND (a.used, k.used, u.points, u.requests, u.valid) = ($1, $1, $1, $1, $1)
		   AND u.errors + u.invalid + u.disposable + u.public + u.relay + u.role + u.gibberish + u.typo + u.lookup_errors = 0`, points).Scan(&found))
	require.Equal(f, accounts, found)
}

// A group that waited in vain for a lock spares the next ones the wait.
func TestPostgresLocksAreRemembered(t *testing.T) {
	f := newFixture(t, pgtest.NeedDatabase(t), unlimitedTerms)
	other := f.otherAccount("other@example.com")
	f.request(1)
	unlock := f.lockAccount()
	ctx, leave := context.WithCancel(f.ctx)
	defer leave()
	for range 3 {
		go f.tryRequest(ctx, f.secret, 1, nil)
	}
	f.awaitLocked()
	for range 50 {
		require.Equal(t, Good, other.request(1).Kind)
	}
	require.EqualValues(t, 1, f.Stats().LockWaits)
	require.Equal(t, 1, f.Stats().Locked)
	unlock()
	require.Eventually(t, func() bool { return f.used() == 4 }, hung, time.Millisecond)
	require.Zero(t, f.Stats().Locked)
	require.EqualValues(t, 1, f.Stats().LockWaits)
}

// A lock of the row that a probe writes does not keep the database marked as down.
func TestPostgresProbeMeetsALock(t *testing.T) {
	f := newFixture(t, pgtest.NeedDatabase(t), unlimitedTerms)
	defer f.lockRows("SELECT FROM plans FOR UPDATE")()
	f.writer.markDown(errors.New("the connection was lost"))
	f.awaitReady()
	require.Equal(t, Good, f.request(1).Kind)
}

// A change that waits for a lock of another session lets others have their turn.
func TestLockedChangeDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		proceed := make(chan struct{})
		s := newSideStore(storeFunc(func(t store.Transaction) error {
			name := t.Reads()[1].Name
			order = append(order, name)
			if name == "free" {
				return nil
			}
			<-proceed
			return &store.Locked{Err: errors.New("locked")}
		}))
		var failed error
		transact := func(name string) error {
			return s.Transact(t.Context(), store.Transaction{Reads: func() []store.Statement { return []store.Statement{{Name: name}} }})
		}
		go func() { failed = transact("locked") }()
		synctest.Wait()
		go transact("free")
		synctest.Wait()
		close(proceed)
		synctest.Wait()
		require.Equal(t, []string{"locked", "free"}, order[:2])
		require.Len(t, order, sideTries+1)
		require.Error(t, failed)
	})
}

// A storeFunc runs transactions only.
type storeFunc func(store.Transaction) error

func (f storeFunc) Transact(_ context.Context, t store.Transaction) error { return f(t) }
func (storeFunc) Query(context.Context, store.Statement) error            { panic("not called") }
func (storeFunc) Now(context.Context) (time.Time, error)                  { panic("not called") }
func (storeFunc) Close() error                                            { return nil }

// An account that has been locked for a second gets no further requests, which would work
// in vain and leave tokens behind, until some time after it was last found locked.
func TestLockedAccountIsRefusedAtOnce(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/ledger.db", unlimitedTerms)
	f.request(1)
	found := func(since, seen time.Duration) {
		f.views.mu.Lock()
		defer f.views.mu.Unlock()
		f.views.locked[f.account] = &lockedAccount{since: time.Now().Add(-since), seen: time.Now().Add(-seen)}
	}
	found(time.Minute, 0)
	_, _, err := f.Begin(f.ctx, f.secret, "")
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "has locked the account for too long")
	require.Equal(t, UnknownKey, f.requestWith(NewSecret(), 1, nil).Kind)
	found(time.Minute, time.Minute/2)
	require.Equal(t, Good, f.request(1).Kind)
	require.Zero(t, f.Stats().Locked, "a charge ends it")
}

// While an operator locks and changes an account again and again, three replicas charge
// its points exactly.
func TestPostgresReplicasChargeExactlyUnderLocks(t *testing.T) {
	const points = 300
	f, list := newReplicas(t, pgtest.NeedDatabase(t), Terms{Rate: limit(Unlimited), Points: limit(points)}, 3)
	other := f.otherAccount("other@example.com")
	f.request(1)
	var seen sync.Map
	var sold, neighbour, refused atomic.Int64
	var operators sync.WaitGroup
	done := make(chan struct{})
	until := func(work func(n int)) {
		operators.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
					work(n)
				}
			}
		})
	}
	until(func(int) {
		defer f.lockAccount()()
		require.Eventually(t, func() bool {
			return list[0].views.isLocked(f.account) || list[1].views.isLocked(f.account) || list[2].views.isLocked(f.account) || isDone(done)
		}, hung, time.Millisecond)
	})
	until(func(n int) {
		name := fmt.Sprint("name ", n)
		_ = list[n%3].ChangeKey(f.ctx, f.account, f.key.ID, KeyChange{Name: &name})
	})
	until(func(n int) {
		on := *other
		on.Ledger = list[n%3].Ledger
		if d, err := on.tryRequest(f.ctx, other.secret, 1, nil); err == nil && d.Kind == Good {
			neighbour.Add(1)
		} else {
			refused.Add(1)
		}
	})
	inParallel(12, func(i int) { sold.Add(f.buy(list[i%3].Ledger, &seen)) })
	close(done)
	operators.Wait()
	require.EqualValues(t, points-1, sold.Load())
	require.EqualValues(t, points, f.used())
	require.EqualValues(t, points, f.history().Points)
	require.Zero(t, refused.Load())
	require.Equal(t, neighbour.Load(), other.history().Points)
}

func isDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Cutting idle connections causes no error.
func TestPostgresIdleConnectionsCut(t *testing.T) {
	s := pgtest.Need(t)
	f := newFixture(t, pgtest.NeedDatabase(t), unlimitedTerms)
	for i := range int64(5) {
		inParallel(8, func(int) { _, _ = f.Plans(f.ctx) }) // fills the pool
		require.NoError(t, s.CutConnections(t.Context()))
		require.Equal(t, i+1, f.request(1).Usage.Current)
	}
}

// If connections are cut under load, exactly the requests that got a result with
// Good are charged.
func TestPostgresConnectionsCutUnderLoad(t *testing.T) {
	s := pgtest.Need(t)
	f := newFixture(t, pgtest.NeedDatabase(t), unlimitedTerms, impatient)
	paid := f.payWhile(func(succeeded, _ *atomic.Int64) {
		for cut := range int64(20) {
			require.Eventually(t, func() bool { return succeeded.Load() >= 10*cut }, hung, time.Millisecond/4)
			require.NoError(t, s.CutConnections(t.Context()))
		}
	})
	require.Equal(t, paid, f.used())
	require.Equal(t, paid, f.history().Points)
}

// If the server restarts under load, requests are refused while it is down, the
// ledger recovers by itself, and no point is lost or charged twice.
func TestPostgresRestart(t *testing.T) {
	s := pgtest.Need(t)
	f := newFixture(t, pgtest.NeedDatabase(t), unlimitedTerms, impatient)
	wait := func(what func() bool) { require.Eventually(t, what, hung, time.Millisecond) }
	paid := f.payWhile(func(succeeded, failed *atomic.Int64) {
		wait(func() bool { return succeeded.Load() > 100 })
		before := failed.Load()
		s.Stop()
		wait(func() bool { return f.Ready(f.ctx) != nil })
		wait(func() bool { return failed.Load() > before+20 })
		require.NoError(t, s.Resume())
		before = succeeded.Load()
		wait(func() bool { return succeeded.Load() > before+100 })
	})
	require.Equal(t, paid, f.used())
	require.Equal(t, paid, f.history().Points)
}

// payWhile sends requests until do returns, and waits until the undecided charges
// are voided. It returns the points of the requests that were Good.
func (f *fixture) payWhile(do func(succeeded, failed *atomic.Int64)) (points int64) {
	var succeeded, failed atomic.Int64
	var enough atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		inParallel(8, func(int) {
			for !enough.Load() {
				if d, err := f.tryRequest(f.ctx, f.secret, 6, nil); err == nil && d.Kind == Good {
					succeeded.Add(1)
				} else {
					failed.Add(1)
				}
			}
		})
	}()
	do(&succeeded, &failed)
	enough.Store(true)
	<-done
	f.awaitReady()
	require.Eventually(f, func() bool { return f.Stats().Undecided == 0 }, hung, time.Millisecond)
	return 6 * succeeded.Load()
}

// Ready returns within its own bound if the context has no deadline.
func TestReadyTimeout(t *testing.T) {
	s := pgtest.Need(t)
	f := newFixture(t, pgtest.NeedDatabase(t), unlimitedTerms)
	thaw, err := s.Freeze(f.ctx)
	require.NoError(t, err)
	defer thaw()
	f.inHurry()
	require.ErrorIs(t, f.Ready(f.ctx), ErrUnavailable, "the context has no deadline")
	thaw()
	f.awaitReady()
}

// If PostgreSQL's processes are suspended during a charge, the caller gets an
// error while they are, and a charge that is committed later is given back.
func TestPostgresFrozenDuringCharge(t *testing.T) {
	s := pgtest.Need(t)
	f := newFixture(t, pgtest.NeedDatabase(t), unlimitedTerms)
	f.request(1)
	thaw, err := s.Freeze(f.ctx)
	require.NoError(t, err)
	defer thaw() // so that a failure here does not block the following tests
	require.Error(t, f.chargeInHurry(10, nil))
	require.ErrorIs(t, f.Ready(f.ctx), ErrUnavailable)
	thaw()
	f.awaitReady()
	f.awaitUsed(1)
}

// A lock hangs that the same transaction has had before, and moves on if another one has it.
// Of an account whose lock hangs, each group tries one ticket; of one that is paused, none.
func TestLocksHangOrMoveOn(t *testing.T) {
	v := newViews(nil)
	found := func(holder int64) (moved, hangs bool) {
		_, moved = v.markLocked(&workingSet{locked: map[int64]bool{1: true}, holders: map[int64]int64{1: holder}})
		_, hanging := v.lockedAccounts()
		return moved, hanging[1]
	}
	for n, want := range []struct {
		holder       int64
		moved, hangs bool
	}{{7, false, true}, {7, false, true}, {8, true, false}, {9, true, false}, {9, false, true}, {0, true, false}, {0, false, true}} {
		moved, hangs := found(want.holder)
		require.Equal(t, []bool{want.moved, want.hangs}, []bool{moved, hangs}, n)
	}
	tried := map[int64]bool{}
	require.False(t, v.isPutOff(1, tried))
	require.True(t, v.isPutOff(1, tried))
	require.False(t, v.isPutOff(2, tried))
	require.False(t, v.isPutOff(2, tried))
	v.pause(1, hung)
	require.True(t, v.isPutOff(1, map[int64]bool{}))
	paused, _ := v.lockedAccounts()
	require.Equal(t, map[int64]bool{1: true}, paused)
	v.publishGroup(&workingSet{accounts: map[int64]*accountState{1: {id: 1}}})
	require.Empty(t, v.locked)
}

// Requests wait for a database that recovers, and only those of known keys, within the bounds.
func TestRequestsWaitForTheDatabase(t *testing.T) {
	var broken atomic.Bool
	f := newFixture(t, "sqlite:"+t.TempDir()+"/ledger.db", unlimitedTerms, patientInOutages, WithStore(func(s store.Store) store.Store {
		return brokenStore{s, &broken}
	}))
	other := f.otherAccount("other@example.com")
	f.request(1)
	other.request(1)
	broken.Store(true)
	f.writer.markDown(errors.New("the disk is full"))

	var good, refused atomic.Int64
	var all sync.WaitGroup
	begin := func(f *fixture) {
		all.Go(func() {
			r, d, err := f.Begin(f.ctx, f.secret, "")
			if err != nil {
				refused.Add(1)
				return
			}
			require.Equal(t, Good, d.Kind)
			good.Add(1)
			r.End()
		})
	}
	wait := func(waiting, refusals int) {
		t.Helper()
		require.Eventually(t, func() bool { return f.countWaiting() == waiting && int(refused.Load()) == refusals }, hung, time.Millisecond)
	}
	for range maxInProgress + 3 {
		begin(f)
	}
	wait(maxInProgress, 3)
	begin(other)
	wait(maxInProgress+1, 3)
	_, _, err := f.Begin(f.ctx, NewSecret(), "")
	require.ErrorIs(t, err, ErrUnavailable, "nobody without a key waits")
	ctx, leave := context.WithCancel(f.ctx)
	all.Go(func() {
		_, _, err := f.Begin(ctx, other.secret, "")
		require.ErrorIs(t, err, context.Canceled)
	})
	wait(maxInProgress+2, 3)
	leave()
	wait(maxInProgress+1, 3)
	broken.Store(false)
	all.Wait()
	require.EqualValues(t, maxInProgress+1, good.Load())
	require.Zero(t, f.countWaiting())
	require.EqualValues(t, 2, f.request(1).Usage.Current)
}

// patientInOutages makes requests wait for a database that does not commit.
func patientInOutages(s *settings) { s.recovery = hung }

func (f *fixture) countWaiting() int {
	f.views.mu.Lock()
	defer f.views.mu.Unlock()
	return f.views.waiting
}

// A request waits for its second, and not at all once the outage is long.
func TestWaitForTheDatabaseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := digestOf(NewSecret())
		v := newViews(nil)
		v.secrets[at] = &secretView{account: v.account(1), key: &keyView{}}
		w := newWriter(&Ledger{views: v, wait: waitLimit, recovery: recovery, log: slog.New(slog.DiscardHandler)})
		time.Sleep(time.Millisecond)
		waited := func() (time.Duration, error) { return w.awaitCommits(t.Context(), at) }
		began := func() { w.txBegan.Store(int64(time.Since(w.started))) }

		took, err := waited()
		require.NoError(t, err)
		require.Zero(t, took)
		began()
		time.Sleep(waitLimit + 1)
		time.AfterFunc(waitLimit/2, func() { w.txBegan.Store(0); w.wake() })
		took, err = waited()
		require.NoError(t, err)
		require.Equal(t, waitLimit/2, took)

		began()
		time.Sleep(waitLimit + 1)
		time.AfterFunc(waitLimit/2, func() { began(); w.wake() }) // the next one is no outage yet
		_, err = waited()
		require.NoError(t, err)

		w.markDown(errors.New("the connection was lost"))
		start := time.Now()
		time.AfterFunc(waitLimit/2, w.wake)
		_, err = waited()
		require.ErrorIs(t, err, ErrUnavailable)
		require.ErrorContains(t, err, "the connection was lost")
		require.Equal(t, waitLimit*3/4, time.Since(start), "the charge may wait as well")
		time.Sleep(recovery)
		w.markDown(errors.New("the connection was lost again"))
		start = time.Now()
		_, err = waited()
		require.ErrorIs(t, err, ErrUnavailable)
		require.Zero(t, time.Since(start), "the outage is long")
		require.Zero(t, v.waiting)
	})
}
