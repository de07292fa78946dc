package account

import (
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/words"
)

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

func points(v *page.Visit) (pointsView, error) {
	a, err := v.Ledger.Account(v.Context(), v.User.Account)
	if err != nil {
		return pointsView{}, err
	}
	view := viewOfPoints(a)
	view.InProgress = v.Ledger.InProgress(v.User.Account)
	return view, nil
}

func viewOfPoints(a book.Account) pointsView {
	limited := func(l book.Limit) *int64 {
		if l == book.Unlimited {
			return nil
		}
		return (*int64)(&l)
	}
	view := pointsView{Used: a.Used, Limit: limited(a.Points), Overage: a.Overage, Refill: a.Refill, Rate: limited(a.Rate)}
	if view.Limit != nil {
		left := max(*view.Limit-a.Used, 0)
		view.Left, view.Percent = &left, 100 // of nothing
		if *view.Limit > 0 {
			view.Percent = int64(float64(a.Used) / float64(*view.Limit) * 100) // rounded down, so that 100 means all
		}
	}
	return view
}

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
	used := "You have used " + humanize.Comma(p.Used) + " of " + words.Count(*p.Limit, "point") + " this month"
	last, refill := ". After the last one, requests ", words.Date(p.Refill)
	switch full := p.Percent >= fullPercent; {
	case full && p.Overage:
		return &bannerView{"warn", used + ": requests go on, and further points count as overage until " + refill + "."}
	case full:
		return &bannerView{"bad", used + ": requests are refused until the points refill on " + refill +
			". Your operator can raise the limit."}
	case p.Overage:
		return &bannerView{"warn", used + last + "go on and further points count as overage until " + refill + "."}
	}
	return &bannerView{"warn", used + last + "are refused until the points refill on " + refill + "."}
}

// Shares of the month's points from which a page warns.
const (
	warnPercent = 80
	fullPercent = 100
)
