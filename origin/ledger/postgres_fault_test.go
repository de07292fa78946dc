package ledger

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestOpenPostgresSaysWhatIsWrong(t *testing.T) {
	s := needPostgres(t)
	newer := s.emptyDatabase(t)
	open(t, newer)
	s.sql(t, newer, "INSERT INTO schema_version VALUES (999)")
	readable := s.emptySchema(t)
	s.sql(t, newer, "CREATE ROLE guest_"+readable+" LOGIN; GRANT USAGE ON SCHEMA "+readable+" TO guest_"+readable)
	asGuest := func(url string) string { return strings.Replace(url, "user=postgres", "user=guest_"+readable, 1) }

	for name, c := range map[string]struct{ url, says string }{
		"malformed":        {"postgres://u:s3cret@host:port/x", "the database's URL"},
		"nobody listens":   {"postgres://u:s3cret@127.0.0.1:1/x", "connection refused"},
		"unknown host":     {"postgres://u:s3cret@no-such-host.invalid/x", "no-such-host.invalid"},
		"newer schema":     {newer, "version 999, this program knows up to 2: use a newer addrspec"},
		"no permission":    {asGuest(s.URL(readable)), "the role needs more rights: GRANT USAGE, CREATE ON SCHEMA"},
		"no schema":        {asGuest(s.emptyDatabase(t)), "the role needs a schema"},
		"no such database": {"postgres:///nowhere?user=postgres&host=" + s.Dir, `database "nowhere" does not exist`},
	} {
		_, err := Open(t.Context(), c.url)
		require.ErrorContains(t, err, c.says, name)
		require.NotContains(t, err.Error(), "s3cret", name)
	}
}

// A server told not to wait for the disk is told otherwise.
func TestPostgresCommitsAreFlushed(t *testing.T) {
	l := open(t, needPostgres(t).emptyDatabase(t)+"&synchronous_commit=off")
	var setting string
	require.NoError(t, l.store.(*postgres).pool.QueryRow(t.Context(), "SHOW synchronous_commit").Scan(&setting))
	require.Equal(t, "on", setting)
}

// Without a clock given, replicas go by the database's.
func TestPostgresClock(t *testing.T) {
	l := open(t, needPostgres(t).emptyDatabase(t))
	before := time.Now()
	err := l.store.transact(t.Context(), noReads, func(now time.Time) ([]statement, error) {
		require.WithinDuration(t, before, now, time.Minute) // on this machine the two are one
		require.Zero(t, now.Nanosecond()%1000, "PostgreSQL counts in microseconds")
		return nil, nil
	})
	require.NoError(t, err)
}

// Connections that are cut while nothing is under way are not noticed.
func TestPostgresConnectionsCutAtRest(t *testing.T) {
	s := needPostgres(t)
	b := begin(t, s.emptyDatabase(t), plenty)
	for i := range int64(5) {
		b.fillPool()
		s.cutConnections(t)
		require.Equal(t, i+1, b.ask(1).Usage.Current)
	}
}

// fillPool opens as many connections as the ledger may have.
func (b *bench) fillPool() {
	pool := b.store.(*postgres).pool
	for range pool.Config().MaxConns {
		conn, err := pool.Acquire(b.ctx)
		require.NoError(b, err)
		defer conn.Release()
	}
}

// A session that holds an account's lock, of a replica that vanished or of an
// operator's by hand, makes requests fail within the bound and not wait.
func TestPostgresLockHeld(t *testing.T) {
	s := needPostgres(t)
	url := s.emptyDatabase(t)
	b := begin(t, url, plenty)
	conn, err := pgx.Connect(b.ctx, url)
	require.NoError(t, err)
	_, err = conn.Exec(b.ctx, "BEGIN; SELECT FROM accounts FOR UPDATE")
	require.NoError(t, err)
	_, err = b.Admit(b.ctx, Request{Key: b.secret, Points: 1})
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "has locked the accounts for too long")
	require.NoError(t, conn.Close(b.ctx))
	b.rest()
	require.EqualValues(t, 1, b.ask(1).Usage.Current)
}

// Connections are cut under load: every request is answered or refused, and
// what was answered is what is charged.
func TestPostgresConnectionsCutUnderLoad(t *testing.T) {
	s := needPostgres(t)
	b := begin(t, s.emptyDatabase(t), plenty)
	var paid, answered atomic.Int64
	var enough atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		together(8, func(int) {
			for !enough.Load() {
				points, err := b.pay(10, 4)
				if err != nil {
					require.ErrorIs(b, err, ErrUnavailable)
					continue
				}
				paid.Add(points)
				answered.Add(1)
			}
		})
	}()
	for cut := range int64(20) {
		require.Eventually(t, func() bool { return answered.Load() >= 10*cut }, 20*time.Second, time.Millisecond/4)
		s.cutConnections(t)
	}
	enough.Store(true)
	<-done
	b.rest()
	require.Equal(t, paid.Load(), b.used())
	require.Equal(t, paid.Load(), b.history().Points)
}

// pay sends a request, gives part of it back, and returns what it had to pay.
func (b *bench) pay(points, refund int64) (int64, error) {
	a, err := b.Admit(b.ctx, Request{Key: b.secret, Points: points})
	if err != nil {
		return 0, err
	}
	if _, err = b.Settle(b.ctx, a, Settlement{Refund: refund}); err != nil {
		return 0, err
	}
	return points - refund, nil
}

// The server is quit and started again under load: refusals come within the
// bound, the ledger recovers by itself, and nothing is lost or doubled.
func TestPostgresStoppedAndStarted(t *testing.T) {
	s := needPostgres(t)
	b := begin(t, s.emptyDatabase(t), plenty)
	var paid, slowest atomic.Int64
	var refused, back atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		together(8, func(int) {
			for !back.Load() {
				begun := time.Now()
				points, err := b.pay(10, 4)
				paid.Add(points)
				if err != nil {
					require.ErrorIs(b, err, ErrUnavailable)
					refused.Store(true)
				}
				slowest.Store(max(slowest.Load(), int64(time.Since(begun))))
			}
		})
	}()
	wait := func(what func() bool) { require.Eventually(t, what, 20*time.Second, time.Millisecond) }
	wait(func() bool { return paid.Load() > 100 })
	s.Stop()
	wait(refused.Load)
	require.NoError(t, s.Resume())
	before := paid.Load()
	wait(func() bool { return paid.Load() > before+100 })
	back.Store(true)
	<-done
	b.rest()
	require.Equal(t, paid.Load(), b.used())
	require.Equal(t, paid.Load(), b.history().Points)
	t.Logf("the slowest of them took %v", time.Duration(slowest.Load()))
}
