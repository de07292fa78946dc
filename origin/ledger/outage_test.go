package ledger

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// A session that holds an account's lock, of a replica that vanished or of an
// operator's by hand, makes requests fail within the bound and not wait.
func TestPostgresLockHeld(t *testing.T) {
	s := needPostgres(t)
	b := begin(t, s.emptyDatabase(t), plenty)
	conn, err := pgx.Connect(b.ctx, b.url)
	require.NoError(t, err)
	_, err = conn.Exec(b.ctx, "BEGIN; SELECT FROM accounts FOR UPDATE")
	require.NoError(t, err)
	_, err = b.try(b.ctx, b.secret, 1, nil)
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "has locked the accounts for too long")
	require.NoError(t, conn.Close(b.ctx))
	b.awaitReady()
	require.EqualValues(t, 1, b.ask(1).Usage.Current)
}

// Connections that are cut while nothing is under way are not noticed.
func TestPostgresConnectionsCutAtRest(t *testing.T) {
	s := needPostgres(t)
	b := begin(t, s.emptyDatabase(t), plenty)
	for i := range int64(5) {
		together(8, func(int) { _, _ = b.Plans(b.ctx) }) // fills the pool
		s.cutConnections(t)
		require.Equal(t, i+1, b.ask(1).Usage.Current)
	}
}

// Connections are cut under load: every request is answered or refused, and
// what was answered is what is charged.
func TestPostgresConnectionsCutUnderLoad(t *testing.T) {
	s := needPostgres(t)
	b := begin(t, s.emptyDatabase(t), plenty)
	paid, _ := b.payWhile(func(answered *atomic.Int64) {
		for cut := range int64(20) {
			require.Eventually(t, func() bool { return answered.Load() >= 10*cut }, 20*time.Second, time.Millisecond/4)
			s.cutConnections(t)
		}
	})
	require.Equal(t, paid, b.used())
	require.Equal(t, paid, b.history().Points)
}

// The server is quit and started again under load: refusals come within the
// bound, the ledger recovers by itself, and nothing is lost or doubled.
func TestPostgresStoppedAndStarted(t *testing.T) {
	s := needPostgres(t)
	b := begin(t, s.emptyDatabase(t), plenty)
	wait := func(what func() bool) { require.Eventually(t, what, 20*time.Second, time.Millisecond) }
	paid, slowest := b.payWhile(func(answered *atomic.Int64) {
		wait(func() bool { return answered.Load() > 100 })
		s.Stop()
		wait(func() bool { return b.Ready(b.ctx) != nil })
		require.NoError(t, s.Resume())
		before := answered.Load()
		wait(func() bool { return answered.Load() > before+100 })
	})
	require.Equal(t, paid, b.used())
	require.Equal(t, paid, b.history().Points)
	require.Less(t, slowest, patience+500*time.Millisecond)
	t.Logf("the slowest of them took %v", slowest)
}

// payWhile puts load on the ledger while do lasts, and returns the points that
// were answered once what is undecided is settled.
func (b *bench) payWhile(do func(answered *atomic.Int64)) (points int64, slowest time.Duration) {
	var answered, longest atomic.Int64
	var enough atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		together(8, func(int) {
			for !enough.Load() {
				begun := time.Now()
				if d, err := b.try(b.ctx, b.secret, 6, nil); err == nil && d.Verdict == Good {
					answered.Add(1)
				}
				longest.Store(max(longest.Load(), int64(time.Since(begun))))
			}
		})
	}()
	do(&answered)
	enough.Store(true)
	<-done
	b.awaitReady()
	require.Eventually(b, func() bool { return b.Stats().Undecided == 0 }, 20*time.Second, time.Millisecond)
	return 6 * answered.Load(), time.Duration(longest.Load())
}

// Ready has an end of its own, however long its caller would wait.
func TestReadyOfAFrozenDatabase(t *testing.T) {
	s := needPostgres(t)
	b := begin(t, s.emptyDatabase(t), plenty)
	thaw, err := s.Freeze(b.ctx)
	require.NoError(t, err)
	defer thaw()
	require.ErrorIs(t, b.Ready(b.ctx), ErrUnavailable, "with a caller who would wait for ever")
	thaw()
	b.awaitReady()
}

// A commit whose flush hangs: the caller gets ErrUndecided within its second,
// and what was committed after all is given back. PostgreSQL's processes are
// stopped for the time.
func TestCommitThatHangs(t *testing.T) {
	s := needPostgres(t)
	b := begin(t, s.emptyDatabase(t), plenty)
	b.ask(1)
	thaw, err := s.Freeze(b.ctx)
	require.NoError(t, err)
	defer thaw() // a failure here must not hold up the tests that follow
	begun := time.Now()
	_, err = b.try(b.ctx, b.secret, 10, nil)
	require.Error(t, err)
	require.Less(t, time.Since(begun), patience+500*time.Millisecond)
	require.ErrorIs(t, b.Ready(b.ctx), ErrUnavailable)
	thaw()
	b.awaitReady()
	b.awaitUsed(1)
}
