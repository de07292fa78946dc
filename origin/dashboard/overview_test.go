package dashboard

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestOverview(t *testing.T) {
	eachUsageSite(t, func(t *testing.T, s *usageSite) {
		b := s.signedIn(t, s.account.ID)
		page := b.get("/dashboard").body
		require.Contains(t, page, "Nothing was checked in the last 30 days")
		require.Contains(t, page, `<a href="/dashboard/keys">Create a key</a>`)
		require.Contains(t, page, "/v1/email/jane.doe&#43;news@hotmial.com</pre>")

		for i := range int64(7) {
			key := s.key(t, s.account.ID, "<b>key "+string(rune('A'+i))+"</b>")
			s.use(t, s.account.ID, key, s.today, 100*(i+1))
			s.use(t, s.account.ID, key, s.today-29, 10)
			s.use(t, s.account.ID, key, s.today-30, 1000) // too old
		}
		var view overviewView
		b.getJSON("/dashboard", &view)
		require.Len(t, view.Chart.Series, 6)
		require.Equal(t, chartSeries{Name: "<b>key G</b>", Total: 710}, view.Chart.Series[0])
		require.Equal(t, chartSeries{Name: "Other keys", Total: 320}, view.Chart.Series[5])
		require.Equal(t, int64(2870), view.Chart.Total)
		require.Equal(t, []int64{700, 600, 500, 400, 300, 300}, view.Chart.Days[29].Values)
		require.Equal(t, int64(70), view.Chart.Days[0].Total)
		require.Equal(t, "valid", view.Shares[0].Field)
		require.Equal(t, "90.0 %", view.Shares[0].Percent)
		page = b.get("/dashboard").body
		require.Contains(t, page, "&lt;b&gt;key G&lt;/b&gt;")
		require.NotContains(t, page, "<b>")
		require.NotContains(t, page, "style=")
	})
}

func TestBanner(t *testing.T) {
	refill := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	banner := func(used int64, limit book.Limit, overage bool) *bannerView {
		view := viewOfPoints(book.Account{Used: used, Points: limit, Overage: overage, Refill: refill})
		return view.banner()
	}
	require.Nil(t, banner(799, 1000, false))
	require.Nil(t, banner(1e9, book.Unlimited, false))
	require.Equal(t, &bannerView{"warn", "You have used 800 of 1,000 points this month. After the last one, requests are refused until the points refill on 1 Dec 2026."}, banner(800, 1000, false))
	require.Equal(t, &bannerView{"warn", "You have used 999 of 1,000 points this month. After the last one, requests go on and further points count as overage until 1 Dec 2026."}, banner(999, 1000, true))
	require.Equal(t, &bannerView{"bad", "You have used 1,000 of 1,000 points this month: requests are refused until the points refill on 1 Dec 2026. Your operator can raise the limit."}, banner(1000, 1000, false))
	require.Equal(t, &bannerView{"warn", "You have used 1,500 of 1,000 points this month: requests go on, and further points count as overage until 1 Dec 2026."}, banner(1500, 1000, true))
	require.Equal(t, "bad", banner(0, 0, false).Tone)
}

// The chart is a pure function of the numbers. Run the test with -update after a
// change, and look at the difference.
func TestChart(t *testing.T) {
	first, err := book.ParseDay("2026-10-28")
	require.NoError(t, err)
	for name, c := range map[string]chartView{
		"several": newChart([]string{"shop", `</title><script>"`, "Other keys"}, true, first, [][]int64{{10, 5, 1}, {0, 0, 0}, {1200, 300, 700}, {3, 0, 2}, {0, 1, 0}}),
		"one":     newChart([]string{"shop"}, false, first, [][]int64{{1}}),
		"nothing": newChart([]string{"shop"}, false, first, [][]int64{{0}, {0}, {0}}),
	} {
		var got bytes.Buffer
		require.NoError(t, templates()["overview"].ExecuteTemplate(&got, "chart", c))
		file := filepath.Join("testdata", "chart-"+name+".html")
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(file, got.Bytes(), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), got.String(), name)
	}
}

func TestNiceTop(t *testing.T) {
	for n, want := range map[int64]int64{0: 2, 1: 2, 2: 2, 3: 4, 5: 6, 10: 10, 11: 12, 13: 16, 17: 20, 41: 60, 2200: 4000, 1e15 + 1: 12e14} {
		require.Equal(t, want, niceTop(n), n)
	}
}
