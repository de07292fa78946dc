package ledger

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// If another session keeps the lock of an account, because a replica vanished or
// an operator forgot a transaction, requests fail within the bound.
func TestPostgresRowLockTimeout(t *testing.T) {
	f := newFixture(t, pgtest.NeedDatabase(t), unlimitedTerms)
	conn, err := pgx.Connect(f.ctx, f.url)
	require.NoError(t, err)
	_, err = conn.Exec(f.ctx, "BEGIN; SELECT FROM accounts FOR UPDATE")
	require.NoError(t, err)
	_, err = f.tryRequest(f.ctx, f.secret, 1, nil)
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "has locked the accounts for too long")
	require.NoError(t, conn.Close(f.ctx))
	f.awaitReady()
	require.EqualValues(t, 1, f.request(1).Usage.Current)
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
				if d, err := f.tryRequest(f.ctx, f.secret, 6, nil); err == nil && d.Verdict == Good {
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
