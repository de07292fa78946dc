package book

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

// fillUsage gives the account more keys, named k1 to kN, and each of them a row of
// usage on every day from first to last: as many points as the key's number.
func (f *fixture) fillUsage(keys int, first, last Day) {
	f.Helper()
	f.exec(`INSERT INTO keys (account, name, hint, created_ns)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < `+Limit(keys).String()+`)
		SELECT CAST($1 AS BIGINT), 'k' || CAST(i AS TEXT), 'ask_', 0 FROM n`, f.account)
	f.exec(`INSERT INTO usage (account, key, day, points, requests, errors, valid, invalid, disposable, public, relay, role, gibberish, typo, lookup_errors)
		WITH RECURSIVE n(i) AS (SELECT CAST($2 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $3)
		SELECT k.account, k.id, n.i, CAST(substr(k.name, 2) AS BIGINT), 2, 1, 7, 3, 1, 0, 0, 1, 0, 1, 0
		  FROM n, keys k WHERE k.account = $1 AND k.name LIKE 'k%'`, f.account, int64(first), int64(last))
}

// Rows are read in pages, and summed. Another account's are never read, whatever key is named.
func TestUsageRows(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		f.fillUsage(3, 100, 103)
		all := UsageQuery{Account: f.account, First: 101, Last: 103}

		var pages [][]UsageRow
		after := UsagePosition{}
		for {
			page := must(f.UsageRows(f.ctx, all, after, 2))(t)
			if len(page) == 0 {
				break
			}
			pages, after = append(pages, page), page[len(page)-1].Position()
		}
		require.Len(t, pages, 5, "nine rows in pages of two")
		require.Equal(t, "k3", pages[0][0].Key.Name)
		require.Equal(t, Day(103), pages[0][0].Day)
		require.Equal(t, Tally{Points: 3, Requests: 2, Errors: 1, Found: Found{Valid: 7, Invalid: 3, Disposable: 1, Role: 1, Typo: 1}}, pages[0][0].Tally)
		require.Equal(t, Day(101), pages[4][0].Day)
		require.Equal(t, "k1", pages[4][0].Key.Name)

		sum, rows := must2(f.UsageSum(f.ctx, all))(t)
		require.Equal(t, int64(9), rows)
		require.Equal(t, Tally{Points: 18, Requests: 18, Errors: 9, Found: Found{Valid: 63, Invalid: 27, Disposable: 9, Role: 9, Typo: 9}}, sum)

		top := must(f.UsedKeys(f.ctx, all, 2))(t)
		require.Len(t, top, 2)
		require.Equal(t, []string{"k3", "k2"}, []string{top[0].Name, top[1].Name})
		days := must(f.PointsByDay(f.ctx, all, []int64{top[0].ID}))(t)
		require.Equal(t, []KeyDay{{0, 101, 3, 0}, {top[0].ID, 101, 3, 0}, {0, 102, 3, 0}, {top[0].ID, 102, 3, 0}, {0, 103, 3, 0}, {top[0].ID, 103, 3, 0}}, days)

		one := all
		one.Key = top[1].ID
		sum, rows = must2(f.UsageSum(f.ctx, one))(t)
		require.Equal(t, []int64{3, 6}, []int64{rows, sum.Points})
		list := must(f.UsageRows(f.ctx, one, UsagePosition{}, 0))(t)
		require.Len(t, list, 3)
		require.Equal(t, "k2", list[0].Key.Name)

		other := must(f.CreateAccount(f.ctx, "other@example.com", Terms{}))(t)
		for _, key := range []int64{0, one.Key} {
			q := UsageQuery{Account: other.ID, Key: key, Last: 200}
			require.Empty(t, must(f.UsageRows(f.ctx, q, UsagePosition{}, 0))(t))
			sum, rows = must2(f.UsageSum(f.ctx, q))(t)
			require.Zero(t, sum)
			require.Zero(t, rows)
		}
	})
}

// An account with many keys has as many rows a day. The database sums them, and a
// page gets its own rows only.
func TestUsageOfManyKeys(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		const keys = 200
		var counter storetest.Counter
		f := newFixture(t, url, unlimitedTerms, counter.Wrap)
		f.fillUsage(keys, 101, 130)
		q := UsageQuery{Account: f.account, First: 101, Last: 130}
		counted := func(statement string, rows int, query func() error) {
			counter.Take()
			require.NoError(t, query())
			work := counter.Take()
			delete(work.Statements, "list_expired_answers") // of the writer, at its start
			require.Equal(t, map[string]int{statement: 1}, work.Statements)
			require.Equal(t, rows, work.Rows[statement], statement)
		}
		var top []UsedKey
		var days []KeyDay
		var sum Tally
		counted("list_used_keys", 5, func() (err error) { top, err = f.UsedKeys(f.ctx, q, 5); return err })
		counted("sum_usage_days", 30*6, func() (err error) {
			days, err = f.PointsByDay(f.ctx, q, []int64{top[0].ID, top[1].ID, top[2].ID, top[3].ID, top[4].ID})
			return err
		})
		counted("sum_usage", 1, func() (err error) { sum, _, err = f.UsageSum(f.ctx, q); return err })
		require.Len(t, days, 30*6)
		require.Equal(t, int64(30*keys*(keys+1)/2), sum.Points)
		rows := must(f.UsageRows(f.ctx, q, UsagePosition{}, 100))(t)
		counted("read_usage_rows", 100, func() (err error) {
			rows, err = f.UsageRows(f.ctx, q, UsagePosition{Day: 110, Key: rows[99].Key.ID}, 100)
			return err
		})
		require.Len(t, rows, 100)
		q.Key = rows[50].Key.ID
		counted("sum_usage", 1, func() (err error) { sum, _, err = f.UsageSum(f.ctx, q); return err })
		counted("read_usage_rows", 30, func() (err error) { rows, err = f.UsageRows(f.ctx, q, UsagePosition{}, 100); return err })
		require.Len(t, rows, 30)
	})
}

// The history names accounts and keys, also a key that is revoked. The sums of all accounts have the
// days asked for alone, and the accounts that used most are of this month.
func TestUsageOfAll(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		f.fillUsage(3, 100, 103)
		f.exec(`UPDATE keys SET revoked_ns = 1 WHERE name = 'k3'`)
		for _, account := range []int64{0, f.account} {
			days := must(f.UsageHistory(f.ctx, account, 103, 103))(t)
			require.Len(t, days, 3)
			last := days[2]
			require.Equal(t, []any{f.account, "owner@example.com", "k3", int64(3)}, []any{last.Account, last.Email, last.Key.Name, last.Points})
		}
		month := int64(MonthOf(f.clock.Now()))
		f.exec(`UPDATE accounts SET month = $1, used = 5`, month)
		for email, at := range map[string][2]int64{"more@example.com": {month, 7}, "before@example.com": {month - 1, 9}} {
			a := must(f.CreateAccount(f.ctx, email, unlimitedTerms))(t)
			_, k := must2(f.CreateKey(f.ctx, a.ID, "k", KeyTerms{}))(t)
			f.exec(`UPDATE accounts SET month = $2, used = $3 WHERE id = $1`, a.ID, at[0], at[1])
			f.exec(`INSERT INTO usage (account, key, day, points, requests, errors) VALUES ($1, $2, 102, 40, 4, 3)`, a.ID, k.ID)
		}
		require.Equal(t, []DaySum{{101, 6, 6, 3}, {102, 86, 14, 9}}, must(f.UsageOfAll(f.ctx, 101, 102))(t))
		top := must(f.TopAccounts(f.ctx, 10))(t)
		require.Len(t, top, 2)
		require.Equal(t, []string{"more@example.com", "owner@example.com"}, []string{top[0].Email, top[1].Email})
		require.Equal(t, int64(7), top[0].Used)
		require.Len(t, must(f.TopAccounts(f.ctx, 1))(t), 1)
	})
}

// However many people look at long reports, one runs at a time, so that others' pages are read.
func TestReportWaitsForItsTurn(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/ledger.db", unlimitedTerms)
	require.True(t, f.reports.TryAcquire(1), "another report runs")
	ctx, cancel := context.WithTimeout(f.ctx, 50*time.Millisecond)
	defer cancel()
	_, _, err := f.UsageSum(ctx, UsageQuery{Account: f.account})
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.NotZero(t, must(f.Account(f.ctx, f.account))(t), "another page")
	f.reports.Release(1)
	must2(f.UsageSum(f.ctx, UsageQuery{Account: f.account}))(t)
}
