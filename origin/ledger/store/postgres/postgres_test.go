package postgres

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.RemoveShared()
	os.Exit(code)
}

func TestOpenPostgresErrors(t *testing.T) {
	s := pgtest.Need(t)
	run := func(url, statement string) { require.NoError(t, s.Exec(t.Context(), url, statement)) }
	_, readable, _ := strings.Cut(pgtest.NeedDatabase(t), "search_path=")
	run(s.URL("public"), "CREATE ROLE guest_"+readable+" LOGIN; GRANT USAGE ON SCHEMA "+readable+" TO guest_"+readable)
	asGuest := func(url string) string { return strings.Replace(url, "user=postgres", "user=guest_"+readable, 1) }

	for name, c := range map[string]struct{ url, want string }{
		"malformed":        {"postgres://u:s3cret@host:port/x", "the database's URL"},
		"no server":        {"postgres://u:s3cret@127.0.0.1:1/x", "connection refused"},
		"unknown host":     {"postgres://u:s3cret@no-such-host.invalid/x", "no-such-host.invalid"},
		"no permission":    {asGuest(s.URL(readable)), "the role needs more rights: GRANT USAGE, CREATE ON SCHEMA"},
		"no schema":        {asGuest(pgtest.NeedDatabase(t)), "the role needs a schema"},
		"no such database": {"postgres:///nowhere?user=postgres&host=" + s.Dir, `database "nowhere" does not exist`},
	} {
		_, err := store.Open(t.Context(), c.url, nil)
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "s3cret", name)
	}
}

// Commits wait for the disk also if the server's default is not to.
func TestPostgresCommitsAreFlushed(t *testing.T) {
	s := storetest.Open(t, pgtest.NeedDatabase(t)+"&synchronous_commit=off").(*postgres)
	var setting string
	require.NoError(t, s.pool.QueryRow(t.Context(), "SHOW synchronous_commit").Scan(&setting))
	require.Equal(t, "on", setting)
}

// Close ends while the server does not respond. pgx alone would wait 15 s for the connection on which a
// transaction timed out.
func TestCloseWhileTheServerIsFrozen(t *testing.T) {
	s := storetest.Open(t, pgtest.NeedDatabase(t))
	require.Contains(t, storetest.PlanNames(t, s), "free")
	thaw, err := pgtest.Need(t).Freeze(t.Context())
	require.NoError(t, err)
	defer thaw()
	require.Error(t, s.Transact(t.Context(), storetest.PutPlan("x")))
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("Close waits for the server")
	}
}

// A restart of the server, which ends all connections, causes no error.
func TestLostConnections(t *testing.T) {
	s := storetest.Open(t, pgtest.NeedDatabase(t))
	for range 5 {
		var fill sync.WaitGroup // the pool
		for range 8 {
			fill.Go(func() { storetest.PlanNames(t, s) })
		}
		fill.Wait()
		require.NoError(t, pgtest.Need(t).CutConnections(t.Context()))
		require.Contains(t, storetest.PlanNames(t, s), "free")
		require.NoError(t, pgtest.Need(t).CutConnections(t.Context()))
		require.NoError(t, s.Transact(t.Context(), storetest.PutPlan("x")))
	}
}

func TestExaminePostgres(t *testing.T) {
	url := pgtest.NeedDatabase(t)
	e, err := storetest.Open(t, url).Examine(t.Context())
	require.NoError(t, err)
	require.Empty(t, e.Wrong)
	require.Regexp(t, `^PostgreSQL [0-9].*, [0-9]+ of [0-9]+ connections in use$`, e.Summary)
	reading, err := store.OpenExisting(t.Context(), url+"&default_transaction_read_only=on", nil)
	require.NoError(t, err)
	defer reading.Close()
	e, err = reading.Examine(t.Context())
	require.NoError(t, err)
	require.ErrorContains(t, e.Wrong[0], "transactions are read-only")
}

// Without a clock option, transactions use the server's clock.
func TestPostgresClock(t *testing.T) {
	s := storetest.Open(t, pgtest.NeedDatabase(t))
	before := time.Now()
	require.NoError(t, s.Transact(t.Context(), store.Transaction{Decide: func(now time.Time) ([]store.Statement, error) {
		require.False(t, now.Before(before.Truncate(time.Microsecond))) // both are this machine's clock
		require.False(t, now.After(time.Now()))
		require.Zero(t, now.Nanosecond()%1000, "PostgreSQL's clock has microseconds")
		return nil, nil
	}}))
	now, err := s.Now(t.Context())
	require.NoError(t, err)
	require.False(t, now.Before(before.Truncate(time.Microsecond)))
}

// After a crash another transaction may have the ID of one that was lost. Its commit
// proves nothing: the mark decides.
func TestInDoubtReusedTransactionID(t *testing.T) {
	s := storetest.Open(t, pgtest.NeedDatabase(t)).(*postgres)
	require.NoError(t, s.Transact(t.Context(), storetest.PutPlan("x")))
	var others string
	require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT pg_current_xact_id()::text").Scan(&others))
	for group, want := range map[int64]bool{s.groups: true, s.groups + 1: false} {
		tx := &transaction{postgres: s, id: others, group: group}
		committed, err := tx.committed(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, committed)
	}
}
