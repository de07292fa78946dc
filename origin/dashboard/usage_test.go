package dashboard

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/account"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// use records that a key used points on a day: of ten addresses nine were valid.
func (s *site) use(t *testing.T, account, key int64, day book.Day, points int64) {
	args := []any{account, key, int64(day), points, points + 1, int64(1), points * 9 / 10, points / 10, int64(0), int64(0), int64(0), points / 20, int64(0), points / 50, int64(0)}
	s.transact(t, "add_usage", args...)
}

func (s *site) exec(t *testing.T, query string, args ...any) {
	must(pgtest.SQL(t, s.database).ExecContext(t.Context(), query, args...))(t)
}

func TestUsagePage(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		b := s.signedIn(t, s.account.ID)
		require.Contains(t, b.get("/dashboard/usage").body, "No requests from")
		shop, form := s.key(t, s.account.ID, "Shop"), s.key(t, s.account.ID, "<i>Form</i>")
		for i := range book.Day(60) {
			s.use(t, s.account.ID, shop, s.today-i, 100)
			s.use(t, s.account.ID, form, s.today-i, 10)
		}
		require.NoError(t, s.Ledger.RevokeKey(t.Context(), s.account.ID, form))
		path := fmt.Sprintf("/dashboard/usage?first=%s&last=%s", s.today-59, s.today)
		view := read[account.UsageView](b, path)
		require.Equal(t, int64(120), view.Count)
		require.Equal(t, int64(6600), view.Total.Points)
		require.Len(t, view.Rows, usagePageRows)
		require.Equal(t, account.UsageKeyView{ID: form, Name: "<i>Form</i>", Status: "revoked"}, view.Rows[0].Key)
		require.Equal(t, s.today.String(), view.Rows[0].Day)
		seen := map[string]bool{}
		for next := path; next != ""; next = view.Next {
			view = account.UsageView{}
			b.getJSON(next, &view)
			for _, r := range view.Rows {
				seen[r.Day+strconv.FormatInt(r.Key.ID, 10)] = true
			}
		}
		require.Len(t, seen, 120, "every row once")

		b.getJSON(path+"&key="+strconv.FormatInt(shop, 10), &view)
		require.Equal(t, int64(6000), view.Total.Points)
		expect(t, http.StatusOK, b.get(path), "&lt;i&gt;Form&lt;/i&gt;", "6,600", "Next page")

		b.getJSON("/dashboard/usage", &view)
		require.Equal(t, s.today.String()[:8]+"01", view.First, "this month")
		require.Equal(t, s.today.String(), view.Last)
	})
}

// A filter that cannot be used gets a sentence, and is shown again; another account's key is not found.
func TestUsageFilters(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	other := s.createAccount(t, "other@example.com")
	foreign := s.key(t, other.ID, "Secret project")
	s.use(t, other.ID, foreign, s.today, 5)
	b := s.signedIn(t, s.account.ID)
	for query, want := range map[string]int{
		"first=yesterday": 422, "last=2026-13-01": 422, "first=2026-02-01&last=2026-01-01": 422, "first=2020-01-01&last=2026-01-01": 422,
		"key=x": 404, "key=-1": 404, "key=99999": 404, "key=" + strconv.FormatInt(foreign, 10): 404, "key=99999999999999999999": 404,
		"first=2025-01-01&last=2026-02-04": 200, "after=x": 200, "key=0": 200, "first=0001-01-01&last=0001-01-02": 200, "first=9999-12-01&last=9999-12-31": 200,
	} {
		var p page.Problem
		require.Equal(t, want, b.getJSON("/dashboard/usage?"+query, &p).status, query)
		require.NotContains(t, p.Sentence, "Secret")
		require.Equal(t, want, b.get("/dashboard/usage.csv?"+query).status, query)
	}
	key := fmt.Sprint(s.key(t, s.account.ID, "shop"))
	got := b.get("/dashboard/usage?first=2026-11-20&last=2026-11-10&key=" + key)
	require.Equal(t, map[string]string{"first": "2026-11-20", "last": "2026-11-10", "key": key}, fieldsOf(t, got.body, "/dashboard/usage"))
	require.Equal(t, http.StatusNotFound, b.get("/dashboard/usage?first=x&key=999").status)
}

func TestUsageCSV(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		b := s.signedIn(t, s.account.ID)
		formula := s.key(t, s.account.ID, `=HYPERLINK("https://evil.example","x"),2`)
		for i := range book.Day(30) {
			s.use(t, s.account.ID, formula, s.today-i, 100)
		}
		s.use(t, s.account.ID, s.key(t, s.account.ID, "+1"), s.today, 7)
		for n := range 8 { // accounts that do not read theirs
			require.NoError(t, s.Limits.Long.Take(t.Context(), fmt.Sprint("exports of other ", n), maxLongEach))
		}
		got := expect(t, http.StatusOK, b.get(fmt.Sprintf("/dashboard/usage.csv?first=%s&last=%s", s.today-29,
			s.today)))
		require.Equal(t, "text/csv; charset=utf-8", got.header.Get("Content-Type"))
		require.Equal(t, fmt.Sprintf(`attachment; filename="addrspec-usage-%s-to-%s.csv"`, s.today-29, s.today), got.header.Get("Content-Disposition"))
		rows := must(csv.NewReader(strings.NewReader(got.body)).ReadAll())(t)
		require.Len(t, rows, 32)
		require.Equal(t, []string{"day", "key_id", "key", "key_status", "points", "requests", "errors", "valid", "invalid", "disposable", "public", "relay", "role", "gibberish", "typo", "lookup_errors"}, rows[0])
		require.Equal(t, []string{s.today.String(), rows[1][1], "'+1", "active", "7", "8", "1", "6", "0", "0", "0", "0", "0", "0", "0", "0"}, rows[1])
		require.Equal(t, `'=HYPERLINK("https://evil.example","x"),2`, rows[2][2])
		require.Equal(t, http.StatusSeeOther, s.browser(t).get("/dashboard/usage.csv").status, "without a session")
		require.Eventually(t, func() bool { return s.Limits.Long.Used() == 8*maxLongEach }, hung, time.Millisecond)
	})
}

// Pages are small and read few rows, however many keys have usage on each of 30 days.
func TestPagesOfManyKeys(t *testing.T) {
	const keys = 300
	eachDatabase(t, func(t *testing.T, s *site) {
		s.fill(t, keys)
		b := s.signedIn(t, s.account.ID)
		for _, path := range []string{"/dashboard", fmt.Sprintf("/dashboard/usage?first=%s&last=%s", s.today-29, s.today)} {
			s.work.Take()
			got := b.get(path)
			work := s.work.Take()
			require.Equal(t, http.StatusOK, got.status)
			require.LessOrEqual(t, sum(work.Statements), 8)
			require.LessOrEqual(t, sum(work.Rows), 200)
			require.Less(t, len(got.body), 100<<10)
		}
		got := b.get(fmt.Sprintf("/dashboard/usage.csv?first=%s&last=%s", s.today-4, s.today))
		require.Equal(t, 5*keys+1, strings.Count(got.body, "\r\n"))
	})
}

func sum(counts map[string]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}

// fill gives the account keys that were used on each of 30 days.
func (s *site) fill(t *testing.T, keys int) {
	name := strings.Repeat("ж&", 16) // 48 bytes, 112 when escaped
	s.exec(t, `INSERT INTO keys (account, name, hint, created_ns)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $3)
		SELECT CAST($1 AS BIGINT), CAST($2 AS TEXT) || CAST(i AS TEXT), 'ask_', 0 FROM n`, s.account.ID, name, keys)
	s.exec(t, `INSERT INTO usage (account, key, day, points, requests, errors)
		WITH RECURSIVE n(i) AS (SELECT CAST($2 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $3)
		SELECT k.account, k.id, n.i, 1000000 + k.id, 1000000, 1000000 FROM n, keys k WHERE k.account = $1`,
		s.account.ID, int64(s.today-29), int64(s.today))
}

func TestOverview(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		b := s.signedIn(t, s.account.ID)
		expect(t, http.StatusOK, b.get("/dashboard"), "Nothing was checked in the last 30 days",
			`<a href="/dashboard/keys">Create a key</a>`, "/v1/email/jane.doe&#43;news@hotmial.com</pre>")

		for i := range int64(7) {
			key := s.key(t, s.account.ID, "<b>key "+string(rune('A'+i))+"</b>")
			s.use(t, s.account.ID, key, s.today, 100*(i+1))
			s.use(t, s.account.ID, key, s.today-29, 10)
			s.use(t, s.account.ID, key, s.today-30, 1000) // too old
		}
		view := read[account.OverviewView](b, "/dashboard")
		require.Len(t, view.Chart.Series, 6)
		require.Equal(t, account.ChartSeries{Name: "<b>key G</b>", Total: 710}, view.Chart.Series[0])
		require.Equal(t, account.ChartSeries{Name: "Other keys", Total: 320}, view.Chart.Series[5])
		require.Equal(t, int64(2870), view.Chart.Total)
		require.Equal(t, []int64{700, 600, 500, 400, 300, 300}, view.Chart.Days[29].Values)
		require.Equal(t, int64(70), view.Chart.Days[0].Total)
		require.Equal(t, "valid", view.Shares[0].Field)
		require.Equal(t, "90.0 %", view.Shares[0].Percent)
		page := b.get("/dashboard").body
		require.Contains(t, page, "&lt;b&gt;key G&lt;/b&gt;")
		require.NotContains(t, page, "<b>")
		require.NotContains(t, page, "style=")
	})
}
