package dashboard

import (
	"github.com/addrspec/addrspec/origin/ledger"
)

const (
	chartDays = 30 // in the chart of the Overview, with today
	chartKeys = 5  // that have a colour of their own
)

// overviewView is the page Overview.
type overviewView struct {
	Points pointsView  `json:"points"`
	Banner *bannerView `json:"banner,omitempty"`
	Chart  *chartView  `json:"chart,omitempty"` // nil before the first request
	Shares []shareView `json:"shares,omitempty"`
	Found  int64       `json:"checked"` // addresses, in the days of the chart
	HasKey bool        `json:"has_key"`
	Curl   string      `json:"-"`
}

func (d *Dashboard) overview(v *visit) (any, error) {
	points, err := v.points()
	if err != nil {
		return nil, err
	}
	view := &overviewView{Points: points, Banner: points.banner(), Curl: exampleCurl(v.link(""))}
	if err := v.addChart(view); err != nil || view.Chart != nil {
		return view, err
	}
	keys, err := v.Ledger.ListKeys(v.r.Context(), v.user.Account, ledger.KeyPage{Limit: 1})
	view.HasKey = len(keys) > 0
	return view, err
}

func exampleCurl(base string) string {
	return `curl -H "X-API-Key: $KEY" ` + base + `/v1/email/jane.doe+news@hotmial.com`
}

// addChart adds the chart and the shares, if there is usage to show.
func (v *visit) addChart(view *overviewView) error {
	now, err := v.Ledger.Now(v.r.Context())
	if err != nil {
		return err
	}
	today := ledger.DayOf(now)
	q := ledger.UsageQuery{Account: v.user.Account, First: today - chartDays + 1, Last: today}
	sum, rows, err := v.Ledger.UsageSum(v.r.Context(), q)
	if err != nil || rows == 0 {
		return err
	}
	view.Shares, view.Found = sharesOf(sum.Found)
	chart, err := v.chart(q)
	view.Chart = &chart
	return err
}

// chart reads the points by day, of the keys that used most and of all others.
func (v *visit) chart(q ledger.UsageQuery) (chartView, error) {
	keys, err := v.Ledger.UsedKeys(v.r.Context(), q, chartKeys)
	if err != nil {
		return chartView{}, err
	}
	ids := make([]int64, len(keys))
	for i, k := range keys {
		ids[i] = k.ID
	}
	days, err := v.Ledger.PointsByDay(v.r.Context(), q, ids)
	return chartOf(q, keys, days), err
}

// chartOf arranges points by day and key. Keys that are not listed are the last
// series.
func chartOf(q ledger.UsageQuery, keys []ledger.UsedKey, days []ledger.PointsOfDay) chartView {
	series, column := make([]string, 0, len(keys)+1), map[int64]int{}
	for i, k := range keys {
		series, column[k.ID] = append(series, k.Name), i
	}
	others := false
	for _, p := range days {
		others = others || p.Key == 0
	}
	if others {
		series, column[0] = append(series, "Other keys"), len(series)
	}
	values := make([][]int64, q.Last-q.First+1)
	for i := range values {
		values[i] = make([]int64, len(series))
	}
	for _, p := range days {
		values[p.Day-q.First][column[p.Key]] = p.Points
	}
	return newChart(series, others, q.First, values)
}

// sharesOf returns the share of each fact among the addresses checked.
func sharesOf(f ledger.Found) (list []shareView, checked int64) {
	checked = f.Valid + f.Invalid
	for _, s := range []struct {
		name, field, tone string
		count             int64
	}{
		{"Valid", "valid", toneGood, f.Valid},
		{"Not valid", "invalid", toneBad, f.Invalid},
		{"Disposable", "disposable", toneBad, f.Disposable},
		{"Role", "role", toneWarn, f.Role},
		{"Gibberish", "gibberish", toneWarn, f.Gibberish},
		{"Typo", "typo", toneWarn, f.Typo},
	} {
		list = append(list, newShare(s.name, s.field, s.tone, s.count, checked))
	}
	return list, checked
}
