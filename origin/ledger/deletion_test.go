package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// rowsOf returns how many rows of an account each table has that refers to
// accounts, by the database's own schema, so that no new table is forgotten.
func (f *fixture) rowsOf(account int64) map[string]int {
	f.Helper()
	tables := "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'account'"
	if !strings.HasPrefix(f.url, "sqlite:") {
		tables = "SELECT table_name FROM information_schema.columns WHERE column_name = 'account' AND table_schema = current_schema()"
	}
	list := "SELECT 'accounts ' || count(*) FROM accounts WHERE id = %[1]d UNION ALL SELECT 'secrets ' || count(*) FROM secrets s " +
		"LEFT JOIN keys k ON k.id = s.key WHERE k.account = %[1]d OR k.id IS NULL"
	for _, name := range f.strings(tables) {
		list += " UNION ALL SELECT '" + name + " ' || count(*) FROM " + name + " WHERE account = %[1]d"
	}
	count := map[string]int{}
	for _, line := range f.strings(fmt.Sprintf(list, account)) {
		name, n, _ := strings.Cut(line, " ")
		count[name] = must(strconv.Atoi(n))(f)
	}
	return count
}

// requireNoRows requires that the account has no row in any table.
func (f *fixture) requireNoRows() {
	f.Helper()
	for name, n := range f.rowsOf(f.account) {
		require.Zero(f, n, name)
	}
}

// fillTables adds a row of the account to every table that has rows of accounts.
func (f *fixture) fillTables() {
	f.Helper()
	require.Equal(f, Good, f.retryable(1, 1).Kind)
	err := f.CreateDashboardKey(f.ctx, f.account)
	require.NoError(f, err)
	for _, insert := range []string{
		"INSERT INTO users (account, handle, created_ns) VALUES (%[1]d, 'h%[1]d', 1)",
		"INSERT INTO sessions (hash, account, client, created_ns, seen_ns, expires_ns, confirmed_ns, complete) VALUES ('s%[1]d', %[1]d, 'c', 1, 1, 1, 1, true)",
		"INSERT INTO links (hash, account, expires_ns) VALUES ('l%[1]d', %[1]d, 1)",
		"INSERT INTO recovery_codes (account, hash) VALUES (%[1]d, 'r')",
		"INSERT INTO passkeys (id, account, name, credential, created_ns, used_ns) VALUES ('p%[1]d', %[1]d, 'n', '{}', 1, 1)",
		"INSERT INTO identities (issuer, subject, account, created_ns) VALUES ('i', '%[1]d', %[1]d, 1)",
		"INSERT INTO webhooks (account, url, secret, created_ns) VALUES (%[1]d, 'https://a.example', 'whsec_', 1)",
		"INSERT INTO policies (account, name, document, version, changed_ns) VALUES (%[1]d, 'sign-up', '{}', 1, 1)",
		"INSERT INTO deliveries (account, month, percent, id, body, created_ns, next_ns) VALUES (%[1]d, 1, 80, 'd%[1]d', '{}', 1, 1)",
	} {
		f.exec(fmt.Sprintf(insert, f.account))
	}
}

// No row of a deleted account remains, in any table, and no row of another one goes.
func TestDeleteAccount(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		other := f.otherAccount("other@example.com")
		f.fillTables()
		other.fillTables()
		for name, n := range f.rowsOf(f.account) {
			require.Positive(t, n, "the test has no row in %s", name)
		}
		before := f.rowsOf(other.account)
		under := f.mustBegin()
		require.NoError(t, f.DeleteAccount(f.ctx, f.account))
		f.requireNoRows()
		require.Equal(t, before, f.rowsOf(other.account))
		require.Equal(t, UnknownKey, f.finish(under, 1).Kind)
		require.Equal(t, UnknownKey, f.request(1).Kind)
		require.Equal(t, UnknownKey, f.retryable(1, 1).Kind)
		require.ErrorIs(t, f.DeleteAccount(f.ctx, f.account), book.ErrNoAccount)
		_, _, err := f.CreateKey(f.ctx, f.account, "late", book.KeyTerms{})
		require.ErrorIs(t, err, book.ErrNoAccount)
		require.ErrorIs(t, f.RevokeKey(f.ctx, f.account, f.key.ID), book.ErrNoKey)

		again := must(f.CreateAccount(f.ctx, "owner@example.com", unlimitedTerms))(t)
		require.Greater(t, again.ID, other.account, "IDs are not reused")
		require.Equal(t, Good, other.request(1).Kind)
	})
}

// Wherever a deletion is interrupted, no secret remains and no request gets a 200. Another
// call deletes what is left.
func TestInterruptedDeletion(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		for n, statement := range []string{"suspend_account", "drop_answers", "drop_usage", "drop_keys", "drop_account"} {
			other := f.otherAccount(statement + "@example.com")
			other.fillTables()
			on := open(t, url, withFake(f.clock), refusing(func(_ bool, list []store.Statement) error {
				if slices.ContainsFunc(list, func(st store.Statement) bool { return st.Name == statement }) {
					return errors.New("interrupted")
				}
				return nil
			}))
			require.ErrorIs(t, on.DeleteAccount(f.ctx, other.account), store.ErrUnavailable)
			rows := other.rowsOf(other.account)
			if n == 0 {
				require.Equal(t, Good, other.request(1).Kind, "nothing was changed")
			} else {
				for _, table := range strings.Fields("secrets users sessions links recovery_codes passkeys identities webhooks") {
					require.Zero(t, rows[table], table)
				}
				require.Equal(t, UnknownKey, other.request(1).Kind)
				require.ErrorIs(t, f.DeleteAccount(book.WithActor(f.ctx, book.Owner), other.account), book.ErrSuspended)
			}
			require.NoError(t, f.DeleteAccount(f.ctx, other.account))
			other.requireNoRows()
		}
	})
}

// Accounts are deleted while three replicas serve and change them. A request of a deleted account
// that begins after the deletion gets no 200, no row remains, and no commit group fails.
func TestDeleteDuringCharges(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		var rejected atomic.Int64
		count := hook(func(ctx context.Context, inner store.Store, t store.Transaction) error {
			err := inner.Transact(ctx, t)
			if errors.Is(err, store.ErrData) {
				rejected.Add(1)
			}
			return err
		})
		f := newFixture(t, url, unlimitedTerms, count)
		list := []*Ledger{f.Ledger, open(t, url, withFake(f.clock), count), open(t, url, withFake(f.clock), count)}
		all := make([]*fixture, 4)
		for n := range all { // before the load: another connection would wait too long for SQLite's lock
			all[n] = f.otherAccount(fmt.Sprintf("gone%d@example.com", n))
			all[n].fillTables()
		}
		inParallel(len(all), func(n int) {
			var deleted atomic.Bool
			var requests atomic.Int64
			var users sync.WaitGroup
			for i, l := range list {
				on := *all[n]
				on.Ledger = l
				users.Go(func() {
					for left := 20; left > 0; requests.Add(1) {
						after := deleted.Load()
						d, err := on.tryRequest(f.ctx, on.secret, int64(i), []*Idempotency{nil, idempotency(1, 1), nil}[i])
						if err == nil && after {
							require.Equal(f, UnknownKey, d.Kind, "a request that began after the deletion")
							left--
						}
						_, _, err = on.CreateKey(book.WithActor(f.ctx, book.Owner), on.account, "late", book.KeyTerms{})
						if err != nil && !errors.Is(err, book.ErrSuspended) && !errors.Is(err, book.ErrNoAccount) && !isStall(err) {
							f.Errorf("a change of an account that is deleted: %v", err)
						}
					}
				})
			}
			require.Eventually(f, func() bool { return requests.Load() > 20 }, hung, time.Millisecond)
			err := list[0].DeleteAccount(f.ctx, all[n].account)
			for isStall(err) { // a second call goes on where the rows are
				err = list[0].DeleteAccount(f.ctx, all[n].account)
			}
			require.NoError(f, err)
			deleted.Store(true)
			users.Wait()
			all[n].requireNoRows()
		})
		for _, l := range list { // the tallies of refused requests are committed
			on := *f
			on.Ledger = l
			on.awaitTallies()
			require.Equal(t, Good, on.request(1).Kind)
		}
		require.Zero(t, rejected.Load(), "a commit group had rows of a deleted account")
		require.EqualValues(t, len(list), f.used())
	})
}
