package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// lockRows locks rows by a transaction of another session, as an operator could who
// forgets it, until unlock is called.
func (f *fixture) lockRows(query string) (unlock func()) {
	f.Helper()
	conn := must(pgx.Connect(f.ctx, f.url))(f)
	must(conn.Exec(f.ctx, "BEGIN; "+query))(f)
	return func() { require.NoError(f, conn.Close(f.ctx)) }
}

// lockAccount locks the fixture's account.
func (f *fixture) lockAccount() (unlock func()) {
	f.Helper()
	return f.lockRows(fmt.Sprintf("SELECT FROM accounts WHERE id = %d FOR UPDATE", f.account))
}

// While another session has locked rows of one account, whatever its table, because a replica
// vanished or an operator forgot a transaction, requests of the account fail, and delay none of
// another account.
func TestPostgresLockedAccountHarmsNoOther(t *testing.T) {
	for name, lock := range map[string]string{
		"account": "SELECT FROM accounts WHERE id = 1 FOR UPDATE",
		"key":     "UPDATE keys SET used = used WHERE account = 1",
		"history": "UPDATE usage SET points = points WHERE account = 1",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, pgtest.NeedDatabase(t), book.Terms{Rate: limit(1_000_000), Points: limit(book.Unlimited)})
			require.NoError(t, f.ChangeKey(f.ctx, f.account, f.key.ID, book.KeyChange{Terms: &book.KeyTerms{Budget: limit(1_000_000_000_000)}}))
			others := make([]*fixture, 40) // whose rows one group writes together
			for n := range others {
				others[n] = f.otherAccount(fmt.Sprintf("other%d@example.com", n))
			}
			require.Equal(t, Good, f.request(1).Kind)
			unlock := f.lockRows(lock)

			inParallel(2*groupLimit, func(int) {
				_, err := f.tryRequest(f.ctx, f.secret, 1, nil)
				assert.ErrorIs(t, err, store.ErrUnavailable)
				assert.ErrorContains(t, err, "has locked the account")
			})
			inParallel(len(others)+8, func(n int) {
				for range 5 {
					if n >= len(others) {
						_, err := f.tryRequest(f.ctx, f.secret, 1, nil)
						assert.ErrorIs(t, err, store.ErrUnavailable)
						continue
					}
					d, err := others[n].tryRequest(f.ctx, others[n].secret, 1, nil)
					assert.NoError(t, err)
					assert.Equal(t, Good, d.Kind)
				}
			})
			require.NoError(t, f.Ready(f.ctx))
			unlock()
			f.requestUntilGood()
			for _, other := range others {
				require.EqualValues(t, 5, other.used())
				require.EqualValues(t, 5, other.history().Points)
			}
			require.EqualValues(t, 2, f.used())
			require.EqualValues(t, 2, f.history().Points)
			require.NoError(t, f.writer.Failing())
		})
	}
}

// A group that waited in vain for a lock spares the next ones the wait.
func TestPostgresLocksAreRemembered(t *testing.T) {
	f := newFixture(t, pgtest.NeedDatabase(t), unlimitedTerms)
	other := f.otherAccount("other@example.com")
	f.request(1)
	unlock := f.lockAccount()
	began := time.Now()
	for range 50 {
		_, err := f.tryRequest(f.ctx, f.secret, 1, nil)
		require.ErrorIs(t, err, store.ErrUnavailable)
		require.Equal(t, Good, other.request(1).Kind)
	}
	seconds := int64(time.Since(began) / lockMemory) // real time: how long the writer remembers
	require.LessOrEqual(t, f.Stats().LockWaits, 1+seconds)
	require.Equal(t, 1, f.Stats().Locked)
	unlock()
	f.requestUntilGood()
	require.Eventually(t, func() bool { return other.request(1).Kind == Good && f.Stats().Locked == 0 }, hung, time.Millisecond)
}

// requestUntilGood retries while the database is unavailable, or the account is left out.
func (f *fixture) requestUntilGood() {
	f.Helper()
	require.Eventually(f, func() bool {
		d, err := f.tryRequest(f.ctx, f.secret, 1, nil)
		return err == nil && d.Kind == Good
	}, hung, 10*time.Millisecond)
}

// If the server restarts under load, requests are refused while it is down, the
// ledger recovers by itself, and no point is lost or charged twice.
func TestPostgresRestart(t *testing.T) {
	s := pgtest.Need(t)
	f := newFixture(t, pgtest.NeedDatabase(t), unlimitedTerms, impatient)
	var paid, failed atomic.Int64
	var enough atomic.Bool
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for !enough.Load() {
				if d, err := f.tryRequest(f.ctx, f.secret, 6, nil); err == nil && d.Kind == Good {
					paid.Add(6)
				} else {
					failed.Add(1)
				}
			}
		})
	}
	wait := func(what func() bool) { require.Eventually(t, what, hung, time.Millisecond) }
	wait(func() bool { return paid.Load() > 600 })
	before := failed.Load()
	s.Stop()
	wait(func() bool { return f.Ready(f.ctx) != nil && failed.Load() > before+20 })
	require.NoError(t, s.Resume())
	before = paid.Load()
	wait(func() bool { return paid.Load() > before+600 })
	enough.Store(true)
	callers.Wait()
	f.awaitReady()
	f.awaitUsed(paid.Load())
	require.Equal(t, paid.Load(), f.history().Points)
}

// If PostgreSQL's processes are suspended during a charge, the caller gets an
// error while they are, and a charge that is committed later is given back.
func TestPostgresFrozenDuringCharge(t *testing.T) {
	s := pgtest.Need(t)
	f := newFixture(t, pgtest.NeedDatabase(t), unlimitedTerms)
	f.request(1)
	thaw := must(s.Freeze(f.ctx))(t)
	defer thaw() // so that a failure here does not block the following tests
	require.Error(t, f.chargeInHurry(10, nil))
	require.ErrorIs(t, f.Ready(f.ctx), store.ErrUnavailable, "although the context has no deadline")
	thaw()
	f.awaitReady()
	f.awaitUsed(1)
}

// Requests wait for a database that recovers.
func TestRequestsWaitForTheDatabase(t *testing.T) {
	var broken atomic.Bool
	wait := func(s *settings) { s.timing.Recovery = hung }
	f := newFixture(t, emptyLike(t, "sqlite:"), unlimitedTerms, wait, hook(func(ctx context.Context, inner store.Store, t store.Transaction) error {
		if broken.Load() {
			return errors.New("broken")
		}
		return inner.Transact(ctx, t)
	}))
	f.request(1)
	broken.Store(true)
	_, err := f.tryRequest(f.ctx, f.secret, 1, nil)
	require.ErrorIs(t, err, store.ErrUnavailable)
	_, _, err = f.Begin(f.ctx, book.NewSecret(), "")
	require.ErrorIs(t, err, store.ErrUnavailable, "nobody without a key waits")
	ctx, leave := context.WithCancel(f.ctx)
	var all sync.WaitGroup
	all.Go(func() {
		_, _, err := f.Begin(ctx, f.secret, "")
		assert.ErrorIs(t, err, context.Canceled)
	})
	all.Go(func() { assert.EqualValues(t, 2, f.request(1).Usage.Current) })
	waiting := func(n int) {
		require.Eventually(t, func() bool { return f.views.Count().Waiting == n }, hung, time.Millisecond)
	}
	waiting(2)
	leave()
	waiting(1)
	broken.Store(false)
	all.Wait()
	waiting(0)
}
