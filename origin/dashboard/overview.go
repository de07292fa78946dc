package dashboard

import (
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/ledger/book"
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
	keys, err := v.Ledger.ListKeys(v.r.Context(), v.user.Account, book.KeyPage{Limit: 1})
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
	today := book.DayOf(now)
	q := book.UsageQuery{Account: v.user.Account, First: today - chartDays + 1, Last: today}
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
func (v *visit) chart(q book.UsageQuery) (chartView, error) {
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
func chartOf(q book.UsageQuery, keys []book.UsedKey, days []book.KeyDay) chartView {
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
func sharesOf(f book.Found) (list []shareView, checked int64) {
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

// pointsView is what an account has used this month and has left. A nil number is
// unlimited.
type pointsView struct {
	Used       int64     `json:"used"`
	Limit      *int64    `json:"limit"`
	Left       *int64    `json:"left"`
	Percent    int64     `json:"percent"` // used of the limit; 0 without one
	Overage    bool      `json:"overage"` // used may exceed limit
	Refill     time.Time `json:"refill"`
	Rate       *int64    `json:"rate"` // requests a second
	InProgress int       `json:"under_way"`
}

func (v *visit) points() (pointsView, error) {
	a, err := v.Ledger.Account(v.r.Context(), v.user.Account)
	if err != nil {
		return pointsView{}, err
	}
	view := viewOfPoints(a)
	view.InProgress = v.Ledger.InProgress(v.user.Account)
	return view, nil
}

func viewOfPoints(a book.Account) pointsView {
	view := pointsView{Used: a.Used, Limit: limited(a.Points), Overage: a.Overage, Refill: a.Refill, Rate: limited(a.Rate)}
	if view.Limit != nil {
		left := max(*view.Limit-a.Used, 0)
		view.Left, view.Percent = &left, percentOf(a.Used, *view.Limit)
	}
	return view
}

func limited(l book.Limit) *int64 {
	if l == book.Unlimited {
		return nil
	}
	n := int64(l)
	return &n
}

// percentOf returns how many percent part is of whole, rounded down, so that 100
// means all. It is 100 of nothing.
func percentOf(part, whole int64) int64 {
	if whole <= 0 {
		return 100
	}
	return int64(float64(part) / float64(whole) * 100)
}

// Shares of the month's points from which a page warns.
const (
	warnPercent = 80
	fullPercent = 100
)

// Level returns the class of the bar of points.
func (p *pointsView) Level() string {
	switch {
	case p.Percent >= fullPercent && !p.Overage:
		return "full"
	case p.Percent >= warnPercent:
		return "high"
	}
	return "low"
}

// A bannerView is a warning above a page.
type bannerView struct {
	Tone     string `json:"tone"` // warn or bad
	Sentence string `json:"sentence"`
}

// banner returns the warning that the points call for, or nil.
func (p *pointsView) banner() *bannerView {
	if p.Limit == nil || p.Percent < warnPercent {
		return nil
	}
	used := "You have used " + humanize.Comma(p.Used) + " of " + count(*p.Limit, "point") + " this month"
	refill := formatDate(p.Refill)
	switch {
	case p.Percent >= fullPercent && p.Overage:
		return &bannerView{"warn", used + ": requests go on, and further points count as overage until " + refill + "."}
	case p.Percent >= fullPercent:
		return &bannerView{"bad", used + ": requests are refused until the points refill on " + refill + ". Your operator can raise the limit."}
	case p.Overage:
		return &bannerView{"warn", used + ". After the last one, requests go on and further points count as overage until " + refill + "."}
	}
	return &bannerView{"warn", used + ". After the last one, requests are refused until the points refill on " + refill + "."}
}
