package dashboard

import "github.com/addrspec/addrspec/origin/ledger"

func overviewPreviews() []preview {
	page := func(data *overviewView) frame { return frame{Path: "/dashboard", User: owner, Data: data} }
	return []preview{
		{"overview", "busy", page(someOverview(312_000, 1_000_000, false))},
		{"overview", "80-percent", page(someOverview(812_345, 1_000_000, false))},
		{"overview", "100-percent", page(someOverview(1_000_000, 1_000_000, false))},
		{"overview", "overage", page(someOverview(1_204_000, 1_000_000, true))},
		{"overview", "unlimited", page(someOverview(312_000, ledger.Unlimited, false))},
		{"overview", "first-day", page(&overviewView{Points: somePoints(0, 1000, false), Curl: exampleCurl("https://addrspec.example")})},
		{"overview", "first-key", page(&overviewView{Points: somePoints(0, 1000, false), HasKey: true, Curl: exampleCurl("https://addrspec.example")})},
	}
}

func somePoints(used int64, limit ledger.Limit, overage bool) pointsView {
	p := viewOfPoints(ledger.AccountUsage{Used: used, Limit: limit, Overage: overage, Refill: previewTime.AddDate(0, 0, 9), Rate: 50})
	p.UnderWay = 3
	return p
}

func someOverview(used int64, limit ledger.Limit, overage bool) *overviewView {
	view := &overviewView{Points: somePoints(used, limit, overage), HasKey: true}
	view.Banner = view.Points.banner()
	chart := newChart([]string{"shop", "<b>warehouse</b>", "a key whose name has all sixty-four characters that are allowed.", "Other keys"}, true, previewDay-chartDays+1, someDays())
	view.Chart = &chart
	view.Shares, view.Found = sharesOf(ledger.Found{Valid: 271_204, Invalid: 18_411, Disposable: 9_120, Role: 14_002, Gibberish: 811, Typo: 4_409})
	return view
}

// someDays are the points of four keys on each day of the chart.
func someDays() (days [][]int64) {
	for i := range int64(chartDays) {
		days = append(days, []int64{4000 * ((i*7)%11 + 1), 900 * ((i * 5) % 7), 300 * (i % 3), 70 * (i % 4)})
	}
	return days
}
