package store_test

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"os"
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

// Both dialects have the same query names and the same number of migrations.
func TestDialectsHaveTheSameQueries(t *testing.T) {
	for _, dialect := range []string{"sqlite", "postgres"} {
		for name, query := range store.Catalogue(os.DirFS(dialect)) {
			require.Equal(t, dialect == "sqlite" && slices.Contains([]string{"lock_accounts", "lock_free_accounts", "read_lock_holders", "limit_lock_wait"}, name), query == "", name)
		}
	}
	names := func(dialect string) []string { return slices.Sorted(maps.Keys(store.Catalogue(os.DirFS(dialect)))) }
	var all []string
	for _, file := range []string{"queries.sql", "identity.sql", "webhook.sql", "sqlite/queries.sql"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "-- name: "); ok {
				all = append(all, strings.TrimSpace(name))
			}
		}
	}
	slices.Sort(all)
	require.Equal(t, all, names("sqlite"), "no name is in two files")
	require.Equal(t, names("sqlite"), names("postgres"))
	require.Equal(t, len(store.Migrations(os.DirFS("sqlite"))), len(store.Migrations(os.DirFS("postgres"))))
	require.NotEmpty(t, store.Migrations(os.DirFS("sqlite")))
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
	probe := store.Statement{Name: "put_plans", Args: []any{`[["a plan", 7, 7, false, 7]]`}}
	locked := func(tr store.Transaction) (l *store.Locked) {
		holder := store.Transaction{
			Reads: func() []store.Statement { return []store.Statement{probe} },
			Decide: func(time.Time) ([]store.Statement, error) {
				require.ErrorAs(t, s.Transact(t.Context(), tr), &l)
				return nil, nil
			},
		}
		require.NoError(t, s.Transact(t.Context(), holder))
		return l
	}
	ping := store.Statement{Name: "ping", Scan: func(r store.Row) error { var n int; return r.Scan(&n) }}
	nothing := func(time.Time) ([]store.Statement, error) { t.Error("called"); return nil, nil }
	require.Zero(t, locked(store.Transaction{Reads: func() []store.Statement { return []store.Statement{probe} }, Decide: nothing}).Account)
	writes := []store.Statement{ping, ping, probe, ping}
	writes[2].Account = 7
	l := locked(store.Transaction{Marked: true, Decide: func(time.Time) ([]store.Statement, error) { return writes, nil }})
	require.EqualValues(t, 7, l.Account)
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

// createVersion2 creates a database of schema version 2, with rows in all tables.
func createVersion2(t *testing.T, url string) *sql.DB {
	dialect, driver, source := "postgres", "pgx", url
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		dialect, driver, source = "sqlite", "sqlite", "file:"+path+"?_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)"
	}
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	version := "PRAGMA user_version = 2"
	if dialect == "postgres" {
		version = "CREATE TABLE schema_version (version BIGINT NOT NULL); INSERT INTO schema_version VALUES (1), (2)"
	}
	bytes := map[string]string{"sqlite": "x'00'", "postgres": "'\\x00'"}[dialect]
	for _, step := range append(store.Migrations(os.DirFS(dialect))[:2], version, `
		INSERT INTO accounts (email, plan, points, created_ns, month, used) VALUES
			('a@example.com', 'pro', 50, 1, 24322, 30), ('b@example.com', 'free', NULL, 1, 24321, 9), ('c@example.com', 'free', NULL, 1, 0, 0);
		INSERT INTO keys (account, name, hash, hint, created_ns, revoked_ns) VALUES
			(1, 'one', 'h1', 'ask_1', 1, NULL), (1, 'two', 'h2', 'ask_2', 2, 5), (2, 'three', 'h3', 'ask_3', 3, NULL);
		INSERT INTO usage (account, key, day, points, requests, errors) VALUES
			(1, 1, 20757, 8, 1, 0), (1, 1, 20758, 20, 3, 1), (1, 1, 20770, 2, 1, 0), (1, 2, 20770, 8, 1, 0), (2, 3, 20750, 9, 2, 0);
		INSERT INTO holds (account, id, body, owner, lease_ns, expires_ns, answer, key, points, month, day) VALUES
			(1, 'i1', 'b', 'o', 1, 2, NULL, 1, 5, 24322, 20758),
			(1, 'i2', 'b', 'o', 1, 2, `+bytes+`, 1, 7, 24322, 20758),
			(2, 'i3', 'b', 'o', 1, 2, NULL, 3, 4, 24320, 20750)`) {
		_, err := db.Exec(step)
		require.NoError(t, err)
	}
	return db
}

// The migration from version 2 keeps the secrets of keys, gives back the points of
// requests that were in progress, and drops stored responses.
func TestMigrationFromVersion2(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		db := createVersion2(t, url)
		storetest.Open(t, url)
		rows := func(query string) (list []string) {
			r, err := db.Query(query)
			require.NoError(t, err)
			defer r.Close()
			for r.Next() {
				var row string
				require.NoError(t, r.Scan(&row))
				list = append(list, row)
			}
			return list
		}
		require.Equal(t, []string{"1 25", "2 9", "3 0"}, rows("SELECT id || ' ' || used FROM accounts ORDER BY id"),
			"five points were in progress in this month, four in an earlier one")
		require.Equal(t, []string{"1 20757 8", "1 20758 15", "1 20770 2", "2 20770 8", "3 20750 5"},
			rows("SELECT key || ' ' || day || ' ' || points FROM usage ORDER BY key, day"))
		require.Equal(t, []string{"h1 1", "h2 2", "h3 3"}, rows("SELECT hash || ' ' || key FROM secrets ORDER BY hash"))
		require.Equal(t, []string{"0"}, rows("SELECT count(*) FROM answers"))
		require.Equal(t, []string{"1"}, rows("SELECT count(*) FROM keys WHERE revoked_ns = 5 AND name = 'two'"))
		require.Equal(t, []string{"3"}, rows("SELECT count(*) FROM accounts WHERE overage IS NULL AND suspended_ns IS NULL AND stored = 0"))
		insert := "INSERT INTO keys (account, name, hint, created_ns) VALUES (1, 'new', 'ask_4', 4) RETURNING id"
		require.Equal(t, []string{"4"}, rows(insert), "IDs are not reused")
	})
}

// Several processes that start at once on a database of an older version all migrate
// or find it migrated.
func TestConcurrentMigration(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		createVersion2(t, url)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				s, err := store.Open(t.Context(), url, nil)
				require.NoError(t, err)
				require.NoError(t, s.Close())
			})
		}
		all.Wait()
	})
}

// OpenExisting makes nothing where there is nothing, refuses an older schema, and
// opens what Open has made.
func TestOpenExisting(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		for range 2 {
			_, err := store.OpenExisting(t.Context(), url, nil)
			require.ErrorIs(t, err, store.ErrNoLedger)
		}
		storetest.Open(t, url)
		s, err := store.OpenExisting(t.Context(), url, nil)
		require.NoError(t, err)
		require.Contains(t, storetest.PlanNames(t, s), "free")
		require.NoError(t, s.Close())
	})
	require.ErrorIs(t, store.RequireCurrent([]string{"1", "2"}, 1), store.ErrOldSchema)
	require.NoError(t, store.RequireCurrent([]string{"1", "2"}, 2))
	require.ErrorContains(t, store.RequireCurrent([]string{"1"}, 2), "use a newer addrspec")
}
