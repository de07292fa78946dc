package dashboard

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/account"
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
		view := read[account.OverviewView](b, "/dashboard")
		require.Len(t, view.Chart.Series, 6)
		require.Equal(t, account.ChartSeries{Name: "<b>key G</b>", Total: 710}, view.Chart.Series[0])
		require.Equal(t, account.ChartSeries{Name: "Other keys", Total: 320}, view.Chart.Series[5])
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

// The chart is a pure function of the numbers. Run the test with -update after a
// change, and look at the difference.
func TestChart(t *testing.T) {
	first, err := book.ParseDay("2026-10-28")
	require.NoError(t, err)
	for name, c := range map[string]account.ChartView{
		"several": account.NewChart([]string{"shop", `</title><script>"`, "Other keys"}, true, first, [][]int64{{10, 5, 1}, {0, 0, 0}, {1200, 300, 700}, {3, 0, 2}, {0, 1, 0}}),
		"one":     account.NewChart([]string{"shop"}, false, first, [][]int64{{1}}),
		"nothing": account.NewChart([]string{"shop"}, false, first, [][]int64{{0}, {0}, {0}}),
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
