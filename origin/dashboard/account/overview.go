// Package account has the pages of an account: its keys, policies, usage, webhook and audit log, and
// the pages that check addresses.
package account

import (
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/check/input"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/words"
	"github.com/addrspec/addrspec/wasm/result"
)

// Routes returns the pages by path.
func Routes() map[string]page.Route {
	revoke := func(v *page.Visit) (*page.Outcome, error) {
		id, err := v.ID()
		if err != nil {
			return nil, err
		}
		return page.Redirect("/dashboard/keys", "key-revoked"), v.Ledger.RevokeKey(v.Context(), v.User.Account, id)
	}
	listsPage := func(v *page.Visit) (any, error) {
		points, err := points(v)
		return ListsView{points, maxBatch, v.PublicURL.String(), v.Link("/v1/emails"), input.AddressNames}, err
	}
	return map[string]page.Route{
		"/dashboard":                  page.SignedIn.Page("Overview", "overview", overview, nil),
		"/dashboard/keys":             page.SignedIn.Page("API keys", "keys", keysPage, createKey),
		"/dashboard/keys/{id}":        page.SignedIn.Page("API key", "key", keyPage, changeKey),
		"/dashboard/keys/{id}/rotate": page.SignedIn.Page("API key", "key", keyPage, rotateKey),
		"/dashboard/keys/{id}/revoke": page.SignedIn.Page("Revoke a key", "key-revoke", keyPage, revoke),
		"/dashboard/usage":            page.SignedIn.Page("Usage", "usage", usagePage, nil),
		"/dashboard/usage.csv":        page.SignedIn.Page("Usage", "usage", usageCSV, nil),
		"/dashboard/try":              page.SignedIn.Page("Try it", "try", tryPage, try),
		"/dashboard/lists":            page.SignedIn.Page("Lists", "lists", listsPage, nil),

		PoliciesPath:                    page.SignedIn.Page("Policies", "policies", policies, createPolicy),
		PoliciesPath + "/{name}":        page.SignedIn.Page("Policy", "policy", policyGet, changePolicy),
		PoliciesPath + "/{name}/test":   page.SignedIn.Page("Policy", "policy", policyGet, testPolicy),
		PoliciesPath + "/{name}/delete": page.SignedIn.Page("Delete a policy", "policy-delete", policyGet, deletePolicy),

		"/dashboard/settings/webhook": page.SignedIn.Page("Webhook", "webhook", webhookPage, changeWebhook),
		"/dashboard/settings/log":     page.SignedIn.Page("Audit log", "audit", auditPage, nil),
	}
}

const (
	ChartDays = 30 // in the chart of the Overview, with today
	chartKeys = 5  // that have a colour of their own
)

// OverviewView is the page Overview.
type OverviewView struct {
	Points pointsView  `json:"points"`
	Banner *bannerView `json:"banner,omitempty"`
	Chart  *ChartView  `json:"chart,omitempty"` // nil before the first request
	Shares []shareView `json:"shares,omitempty"`
	Found  int64       `json:"checked"` // addresses, in the days of the chart
	HasKey bool        `json:"has_key"`
	Curl   string      `json:"-"`
}

func overview(v *page.Visit) (any, error) {
	ctx := v.Context()
	points, err := points(v)
	if err != nil {
		return nil, err
	}
	view := &OverviewView{Points: points, Banner: points.banner(),
		Curl: `curl -H "X-API-Key: $KEY" ` + v.Link("") + `/v1/email/jane.doe+news@hotmial.com`}
	now, err := v.Ledger.Now(ctx)
	if err != nil {
		return nil, err
	}
	today := book.DayOf(now)
	q := book.UsageQuery{Account: v.User.Account, First: today - ChartDays + 1, Last: today}
	sum, rows, err := v.Ledger.UsageSum(ctx, q)
	if err != nil {
		return nil, err
	}
	if rows == 0 {
		keys, err := v.Ledger.ListKeys(ctx, v.User.Account, book.KeyPage{Limit: 1})
		view.HasKey = len(keys) > 0
		return view, err
	}
	view.Shares, view.Found = sharesOf(sum.Found)
	keys, err := v.Ledger.UsedKeys(ctx, q, chartKeys)
	if err != nil {
		return nil, err
	}
	series, ids := []string{}, []int64{}
	column := map[int64]int{} // by key; keys that are not listed are the last series
	for i, k := range keys {
		ids, series, column[k.ID] = append(ids, k.ID), append(series, k.Name), i
	}
	days, err := v.Ledger.PointsByDay(ctx, q, ids)
	others := slices.ContainsFunc(days, func(p book.KeyDay) bool { return p.Key == 0 })
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
	chart := NewChart(series, others, q.First, values)
	view.Chart = &chart
	return view, err
}

func sharesOf(f book.Found) (list []shareView, checked int64) {
	checked = f.Valid + f.Invalid
	for _, s := range []struct {
		name, field, tone string
		count             int64
	}{
		{"Valid", "valid", result.ToneGood, f.Valid},
		{"Not valid", "invalid", result.ToneBad, f.Invalid},
		{"Disposable", "disposable", result.ToneBad, f.Disposable},
		{"Role", "role", result.ToneWarn, f.Role},
		{"Gibberish", "gibberish", result.ToneWarn, f.Gibberish},
		{"Typo", "typo", result.ToneWarn, f.Typo},
	} {
		share := shareView{Name: s.name, Field: s.field, Tone: s.tone, Count: s.count, Percent: "0 %", Width: "0"}
		if checked > 0 {
			part := float64(s.count) / float64(checked) * 100
			share.Percent, share.Width = fmt.Sprintf("%.1f %%", part), units(part)
		}
		list = append(list, share)
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
	InProgress int       `json:"in_progress"`
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
