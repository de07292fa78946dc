package postgres

import (
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

// newGuess makes a transaction that guesses no row and writes a plan.
func newGuess(name string) store.Transaction {
	t := storetest.PutPlan(name)
	writes := t.Decide
	t.Guess = func(now time.Time) (_, _ []store.Statement) {
		list, _ := writes(now)
		return []store.Statement{{Name: "expect_rows", Args: []any{"[]"}}}, list
	}
	return t
}

// openGuessing opens a store whose next group guesses.
func openGuessing(t *testing.T) *postgres {
	s := storetest.Open(t, pgtest.NeedDatabase(t)).(*postgres)
	require.NoError(t, s.Transact(t.Context(), storetest.PutPlan("first")))
	s.clock = time.Now // so that a slow machine guesses too
	return s
}

// A guess is decided at the server's time, as far as it is known; else none is made.
func TestGuessedTime(t *testing.T) {
	here := time.Now()
	wall, server := here.Round(0), here.Add(time.Hour)
	r := reading{server, wall, here}
	for _, c := range []struct {
		wall, instant time.Duration // since the reading
		known         bool
	}{
		{0, 0, true},
		{time.Millisecond, time.Millisecond, true},
		{maxReading - 1, maxReading - 1, true},
		{maxReading, maxReading, false},
		{time.Minute, time.Millisecond, false},  // the machine slept
		{-time.Minute, time.Millisecond, false}, // its clock was set
		{maxStep - 1, 0, true},
	} {
		at, known := r.at(wall.Add(c.wall), here.Add(c.instant))
		require.Equal(t, c.known, known, c)
		require.Equal(t, server.Add(c.instant), at)
	}
	var none reading
	_, known := none.at(wall, here)
	require.False(t, known)
}

// The mark shows whether a guess was committed, as often as it is asked.
func TestFenceAfterCommit(t *testing.T) {
	s := openGuessing(t)
	require.NoError(t, s.Transact(t.Context(), newGuess("guessed")))
	require.Zero(t, s.pausedTo)
	group := s.groups
	for range 3 {
		committed, err := s.fence(t.Context(), group)
		require.NoError(t, err)
		require.True(t, committed)
	}
	require.NoError(t, s.Transact(t.Context(), newGuess("next")))
	require.Zero(t, s.pausedTo)
	require.Subset(t, storetest.PlanNames(t, s), []string{"guessed", "next"})
}

// A guess that reaches the server after it was found not committed fails, whatever was
// committed since.
func TestFenceBeforeGuess(t *testing.T) {
	s := openGuessing(t)
	expected, writes := newGuess("late").Guess(time.Now())
	s.groups++
	group := s.groups
	late := s.guessBatch(group, expected, writes)
	for range 2 {
		committed, err := s.fence(t.Context(), group)
		require.NoError(t, err)
		require.False(t, committed)
	}
	send := func() error {
		conn, err := s.pool.Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
		return conn.SendBatch(t.Context(), late).Close()
	}
	require.ErrorContains(t, send(), "addrspec guessed wrong")
	require.NoError(t, s.Transact(t.Context(), newGuess("next")))
	require.ErrorContains(t, send(), "addrspec guessed wrong")
	require.NotContains(t, storetest.PlanNames(t, s), "late")
}

// A guess whose connection is lost while the server runs it is ended before its outcome is
// read.
func TestFenceDuringGuess(t *testing.T) {
	s := openGuessing(t)
	conn, err := s.pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	s.groups++
	group := s.groups
	_, err = conn.Exec(t.Context(), "BEGIN")
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), raiseMark, s.writer, group)
	require.NoError(t, err)
	committed, err := s.fence(t.Context(), group)
	require.NoError(t, err)
	require.False(t, committed)
	_, err = conn.Exec(t.Context(), "COMMIT")
	require.Error(t, err, "the connection was ended")
}

// While the database takes no writes, the outcome is known once the server has ended the
// connection, and else not yet.
func TestOutcomeOnReadOnlyDatabase(t *testing.T) {
	s := openGuessing(t)
	require.NoError(t, s.Transact(t.Context(), newGuess("guessed")))
	config := s.pool.Config()
	config.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	reader := *s
	reader.pool = pool
	ended := &pgconn.PgError{Code: "57P01", SeverityUnlocalized: "FATAL"}
	for group, want := range map[int64]bool{s.groups: true, s.groups + 1: false} {
		committed, err := reader.outcome(t.Context(), group, ended)
		require.NoError(t, err)
		require.Equal(t, want, committed)
		_, err = reader.outcome(t.Context(), group, io.ErrUnexpectedEOF)
		require.ErrorContains(t, err, "read-only")
	}
}

// Transactions of operators run beside guesses, and touch nothing of theirs.
func TestGuessBesideOthers(t *testing.T) {
	s := openGuessing(t)
	s.clock = nil
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for range 25 {
				assert.NoError(t, s.Transact(t.Context(), store.Transaction{Decide: func(time.Time) ([]store.Statement, error) { return nil, nil }}))
			}
		})
	}
	for n := range 100 {
		require.NoError(t, s.Transact(t.Context(), newGuess(fmt.Sprint("plan", n))))
	}
	others.Wait()
}

// Without its mark, on a standby that did not receive it or after a day, a guess fails and
// the two round trips make a new one.
func TestGuessWithoutMark(t *testing.T) {
	s := openGuessing(t)
	_, err := s.pool.Exec(t.Context(), "DELETE FROM writers")
	require.NoError(t, err)
	committed, err := s.fence(t.Context(), s.groups)
	require.NoError(t, err)
	require.False(t, committed)
	require.NoError(t, s.Transact(t.Context(), newGuess("next")))
	require.NotZero(t, s.pausedTo)
	s.pausedTo = time.Time{}
	require.NoError(t, s.Transact(t.Context(), newGuess("third")))
	require.Zero(t, s.pausedTo)
	require.Subset(t, storetest.PlanNames(t, s), []string{"next", "third"})
}
