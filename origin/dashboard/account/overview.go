// Package account has the pages of an account: its keys, policies, usage, webhook and audit log, and
// the pages that check addresses.
package account

import (
	"fmt"
	"slices"

	"github.com/addrspec/addrspec/origin/check/input"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
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
		"/dashboard":                  page.SignedIn("Overview", "overview", overview, nil),
		"/dashboard/keys":             page.SignedIn("API keys", "keys", keysPage, createKey),
		"/dashboard/keys/{id}":        page.SignedIn("API key", "key", keyPage, changeKey),
		"/dashboard/keys/{id}/rotate": page.SignedIn("API key", "key", keyPage, rotateKey),
		"/dashboard/keys/{id}/revoke": page.SignedIn("Revoke a key", "key-revoke", keyPage, revoke),
		"/dashboard/usage":            page.SignedIn("Usage", "usage", usagePage, nil),
		"/dashboard/usage.csv":        page.SignedIn("Usage", "usage", usageCSV, nil),
		"/dashboard/try":              page.SignedIn("Try it", "try", tryPage, try),
		"/dashboard/lists":            page.SignedIn("Lists", "lists", listsPage, nil),

		PoliciesPath:                    page.SignedIn("Policies", "policies", policies, createPolicy),
		PoliciesPath + "/{name}":        page.SignedIn("Policy", "policy", policyGet, changePolicy),
		PoliciesPath + "/{name}/test":   page.SignedIn("Policy", "policy", policyGet, testPolicy),
		PoliciesPath + "/{name}/delete": page.SignedIn("Delete a policy", "policy-delete", policyGet, deletePolicy),

		"/dashboard/settings/webhook": page.SignedIn("Webhook", "webhook", webhookPage, changeWebhook),
		"/dashboard/settings/log":     page.SignedIn("Audit log", "audit", auditPage, nil),
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

// sharesOf returns the share of each fact among the addresses checked.
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
