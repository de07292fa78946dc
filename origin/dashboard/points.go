package dashboard

import (
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// pointsView is what an account has used this month and has left. A nil number is
// unlimited.
type pointsView struct {
	Used     int64     `json:"used"`
	Limit    *int64    `json:"limit"`
	Left     *int64    `json:"left"`
	Percent  int64     `json:"percent"` // used of the limit; 0 without one
	Overage  bool      `json:"overage"` // used may exceed limit
	Refill   time.Time `json:"refill"`
	Rate     *int64    `json:"rate"` // requests a second
	UnderWay int       `json:"under_way"`
}

func (v *visit) points() (pointsView, error) {
	u, err := v.Ledger.AccountUsage(v.r.Context(), v.user.Account)
	if err != nil {
		return pointsView{}, err
	}
	view := viewOfPoints(u)
	view.UnderWay = v.Ledger.UnderWay(v.user.Account)
	return view, nil
}

func viewOfPoints(u ledger.AccountUsage) pointsView {
	view := pointsView{Used: u.Used, Limit: limited(u.Limit), Overage: u.Overage, Refill: u.Refill, Rate: limited(u.Rate)}
	if view.Limit != nil {
		left := max(*view.Limit-u.Used, 0)
		view.Left, view.Percent = &left, percentOf(u.Used, *view.Limit)
	}
	return view
}

func limited(l ledger.Limit) *int64 {
	if l == ledger.Unlimited {
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
	used := formatNumber(p.Used) + " of " + formatNumber(*p.Limit) + " points of this month are used"
	refill := formatDay(p.Refill)
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

// formatDay returns a day for a sentence, such as 1 December.
func formatDay(t time.Time) string { return t.UTC().Format("2 January") }
