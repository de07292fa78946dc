package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	_ "github.com/addrspec/addrspec/origin/ledger/store/postgres"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.RemoveShared()
	os.Exit(code)
}

// Both dialects have the same query names, and no name is in two files.
func TestDialectsHaveTheSameQueries(t *testing.T) {
	for dialect, empty := range map[string][]string{"sqlite": {"lock_accounts", "lock_free_accounts"}, "postgres": nil} {
		var want []string
		for _, file := range []string{"queries.sql", "identity.sql", "webhook.sql", "sqlite/queries.sql"} {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, found := range regexp.MustCompile("(?m)^-- name: (.*)$").FindAllStringSubmatch(string(text), -1) {
				want = append(want, found[1])
			}
		}
		queries := store.Catalogue(os.DirFS(dialect))
		require.ElementsMatch(t, want, slices.Collect(maps.Keys(queries)))
		for name, query := range queries {
			require.Equal(t, slices.Contains(empty, name), query == "", name)
			require.NotRegexp(t, "(?m)^--|;$", query)
		}
	}
}

// A transaction that violates a constraint returns ErrData and changes nothing.
func TestDataErrors(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		s := storetest.Open(t, url)
		for name, args := range map[string]string{"a constraint": `[["bad", 0, 1, false, 1]]`, "not null": `[[null, 1, 1, false, 1]]`} {
			err := s.Transact(t.Context(), store.Transaction{Marked: true, Decide: func(time.Time) ([]store.Statement, error) {
				return []store.Statement{{Name: "put_plans", Args: []any{`[["good", 1, 1, false, 1]]`}}, {Name: "put_plans", Args: []any{args}}}, nil
			}})
			require.ErrorIs(t, err, store.ErrData, name)
			require.NotContains(t, storetest.PlanNames(t, s), "good")
		}
		require.NoError(t, s.Transact(t.Context(), storetest.PutPlan("after")))
	})
}

// A transaction that gives up waiting for a lock says whose rows they were, changes
// nothing, and leaves the connection usable.
func TestLocked(t *testing.T) {
	s := storetest.Open(t, pgtest.NeedDatabase(t))
	require.NoError(t, s.Transact(t.Context(), storetest.PutPlan("a plan")))
	probe := store.Statement{Name: "put_plans", Account: 7, Args: []any{`[["a plan", 7, 7, false, 7]]`}}
	ping := store.Statement{Name: "ping", Scan: func(r store.Row) error { var n int; return r.Scan(&n) }}
	lock := func() []store.Statement { return []store.Statement{probe} }
	writes := func(time.Time) ([]store.Statement, error) { return []store.Statement{ping, ping, probe, ping}, nil }
	nothing := func(time.Time) ([]store.Statement, error) { t.Error("called"); return nil, nil }
	var reading, writing *store.Locked
	require.NoError(t, s.Transact(t.Context(), store.Transaction{Reads: lock, Decide: func(time.Time) ([]store.Statement, error) {
		require.ErrorAs(t, s.Transact(t.Context(), store.Transaction{Reads: lock, Decide: nothing}), &reading)
		require.ErrorAs(t, s.Transact(t.Context(), store.Transaction{Marked: true, Decide: writes}), &writing)
		return nil, nil
	}}))
	require.Zero(t, reading.Account)
	require.EqualValues(t, 7, writing.Account)
	require.NoError(t, s.Transact(t.Context(), storetest.PutPlan("after")))
}

// The clock is read after the locks are acquired, so the time includes the wait for
// another transaction's lock.
func TestClockIsReadAfterLocks(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		first, second := storetest.Open(t, url), storetest.Open(t, url)
		require.NoError(t, first.Transact(t.Context(), store.Transaction{Decide: func(time.Time) ([]store.Statement, error) {
			return []store.Statement{{Name: "create_account", Args: []any{"a@example.com", "free", nil, nil, nil, 0}, Scan: func(store.Row) error { return nil }}}, nil
		}}))
		lock := func() []store.Statement {
			return []store.Statement{{Name: "lock_accounts", Args: []any{`[[1, 0, ""]]`}}}
		}
		held, release := make(chan time.Time), make(chan struct{})
		go first.Transact(context.Background(), store.Transaction{Reads: lock, Decide: func(time.Time) ([]store.Statement, error) {
			held <- time.Now()
			<-release
			return nil, nil
		}})
		<-held
		var released time.Time
		time.AfterFunc(20*time.Millisecond, func() { released = time.Now(); close(release) })
		waits := store.Transaction{Reads: lock, Decide: func(now time.Time) ([]store.Statement, error) {
			require.False(t, now.Before(released))
			return nil, nil
		}}
		err := second.Transact(t.Context(), waits)
		for errors.As(err, new(*store.Locked)) { // the machine is slow
			err = second.Transact(t.Context(), waits)
		}
		require.NoError(t, err)
	})
}

// createVersion7 creates a database of schema version 7.
func createVersion7(t *testing.T, url string) *sql.DB {
	t.Helper()
	dialect, driver, source, version := "postgres", "pgx", url,
		"CREATE TABLE schema_version (version BIGINT NOT NULL); INSERT INTO schema_version VALUES (7)"
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		dialect, driver, source = "sqlite", "sqlite", "file:"+path+"?_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)"
		version = "PRAGMA user_version = 7"
	}
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	step, err := os.ReadFile(dialect + "/007.sql")
	require.NoError(t, err)
	_, err = db.Exec(string(step) + version)
	require.NoError(t, err)
	return db
}

// Several processes that start at once on a new database, or one of an older version, all migrate
// or find it migrated. SQLite does not wait while another process switches a new file to WAL mode, or
// recovers or removes the log, so opening must retry: only some of the files show the race.
func TestConcurrentMigration(t *testing.T) {
	open := func(t *testing.T, url string) {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				s, err := store.Open(t.Context(), url, nil)
				require.NoError(t, err)
				require.Len(t, storetest.PlanNames(t, s), 3)
				require.NoError(t, s.Close())
				s, err = store.OpenExisting(t.Context(), url, nil)
				require.NoError(t, err)
				require.NoError(t, s.Close())
			})
		}
		all.Wait()
	}
	t.Run("new", func(t *testing.T) {
		pgtest.EachDatabase(t, open)
		for n := range 7 {
			open(t, fmt.Sprintf("sqlite:%s/%d.db", t.TempDir(), n))
		}
	})
	t.Run("old", func(t *testing.T) {
		pgtest.EachDatabase(t, func(t *testing.T, url string) {
			createVersion7(t, url)
			open(t, url)
		})
	})
}

// A migration that fails changes nothing, and the next one succeeds.
func TestMigrationThatFails(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		db := createVersion7(t, url)
		obstacle, schema := "ALTER TABLE deliveries RENAME CONSTRAINT deliveries_account_fkey TO other",
			"SELECT count(*) FROM pg_constraint WHERE confdeltype = 'c' AND connamespace = current_schema()::regnamespace"
		remove := "ALTER TABLE deliveries RENAME CONSTRAINT other TO deliveries_account_fkey"
		if strings.HasPrefix(url, "sqlite:") {
			obstacle, schema, remove = "CREATE TABLE changed (x)", "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%CASCADE%'", "DROP TABLE changed"
		}
		_, err := db.Exec(obstacle)
		require.NoError(t, err)
		changed := func() (n int) {
			require.NoError(t, db.QueryRow(schema).Scan(&n))
			return n
		}
		_, err = store.Open(t.Context(), url, nil)
		require.Error(t, err)
		require.Zero(t, changed())
		_, err = store.OpenExisting(t.Context(), url, nil)
		require.ErrorIs(t, err, store.ErrOldSchema)
		_, err = db.Exec(remove)
		require.NoError(t, err)
		storetest.Open(t, url)
		require.Positive(t, changed())
	})
}

// OpenExisting makes nothing where there is nothing, refuses an older schema, and opens
// what Open has made. A version that cannot be migrated is refused with what to do, whoever
// opens the database.
func TestOpenExisting(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		for range 2 {
			_, err := store.OpenExisting(t.Context(), url, nil)
			require.ErrorIs(t, err, store.ErrNoLedger)
		}
		db := createVersion7(t, url)
		_, err := store.OpenExisting(t.Context(), url, nil)
		require.ErrorIs(t, err, store.ErrOldSchema)
		storetest.Open(t, url)
		s, err := store.OpenExisting(t.Context(), url, nil)
		require.NoError(t, err)
		require.Contains(t, storetest.PlanNames(t, s), "free")
		require.NoError(t, s.Close())

		set := "UPDATE schema_version SET version = "
		if strings.HasPrefix(url, "sqlite:") {
			set = "PRAGMA user_version = "
		}
		for version, want := range map[string]string{"1": "commit 9747a602", "9": "use a newer addrspec",
			"6": "it has version 6, this program migrates from 7 on"} {
			_, err := db.Exec(set + version)
			require.NoError(t, err)
			_, err = store.Open(t.Context(), url, nil)
			require.ErrorContains(t, err, want)
			_, err = store.OpenExisting(t.Context(), url, nil)
			require.ErrorContains(t, err, want)
		}
	})
}
