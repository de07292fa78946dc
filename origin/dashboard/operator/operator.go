// Package operator has the pages of operators. Each but the overview does what a command of addrspec does.
package operator

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/maypok86/otter/v2"

	"github.com/addrspec/addrspec/origin/dashboard/account"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

const (
	operatorPath = "/dashboard/operator"
	accountsPath = operatorPath + "/accounts"
	plansPath    = operatorPath + "/plans"
)

// Routes returns the pages by path.
func Routes() map[string]page.Route {
	sums := otter.Must(&otter.Options[book.Day, []book.DaySum]{
		MaximumSize: 10, Logger: &otter.NoopLogger{},
		ExpiryCalculator: otter.ExpiryWriting[book.Day, []book.DaySum](sumsLife)})
	overview := func(v *page.Visit) (any, error) { return operatorOverview(v, sums) }
	create := func(v *page.Visit) (*page.Outcome, error) {
		terms, err := accountTerms(v)
		if err != nil {
			return nil, err
		}
		a, err := v.Ledger.CreateAccount(v.Context(), v.Form.Get("email"), terms)
		return page.Redirect(accountsPath+"/"+strconv.FormatInt(a.ID, 10), "account-created"), page.FormProblem(err)
	}
	account := func(v *page.Visit) (any, error) {
		view, err := operatorAccount(v)
		if err == nil {
			view.Link = strings.Join(v.ShownOnce(), "")
		}
		return view, err
	}
	health := func(v *page.Visit) (any, error) { return healthView{v.Health(v.Context())}, nil }
	plans := func(v *page.Visit) (any, error) {
		plans, err := v.Ledger.Plans(v.Context())
		return plansView{plans, book.DefaultStored}, err
	}
	return map[string]page.Route{
		operatorPath:             page.Operator.Page("Operator", "operator", overview, nil),
		accountsPath:             page.Operator.Page("Accounts", "operator-accounts", accounts, create),
		accountsPath + "/{id}":   page.Operator.Page("Account", "operator-account", account, changeAccount),
		plansPath:                page.Operator.Page("Plans", "operator-plans", plans, putPlan),
		operatorPath + "/health": page.Operator.Page("Health", "operator-health", health, nil),
	}
}

const (
	topAccounts    = 10
	accountsOnPage = 50
	linesOnPage    = 20          // of an account's audit log
	sumsLife       = time.Minute // of the sums of all accounts, because they take a second on a large database
)

// Overview is the operator's overview.
type Overview struct {
	Chart   account.ChartView `json:"chart"`
	Days    []DayErrors       `json:"errors"` // by day
	Sum     DayErrors         `json:"-"`
	Top     []book.Account    `json:"top_accounts"` // that used most this month
	Refused []StatusCount     `json:"refused"`      // since the start of this server
}

// DayErrors are the requests of all accounts that were admitted on a day, and those that got no result.
type DayErrors struct {
	Day      string `json:"day"`
	Requests int64  `json:"requests"`
	Errors   int64  `json:"errors"`
}

// A StatusCount is how many requests got an HTTP status.
type StatusCount struct {
	Status int    `json:"status"`
	Why    string `json:"why"`
	Count  int64  `json:"count"`
}

var refusedWhy = map[int]string{
	http.StatusBadRequest:          "the request is not valid",
	http.StatusUnauthorized:        "no key, or a key that is not valid",
	http.StatusPaymentRequired:     "a batch needs more points than are left",
	http.StatusTooManyRequests:     "too many requests, or the points are used up",
	http.StatusServiceUnavailable:  "the database or the resolver does not respond, or the server is busy",
	http.StatusInternalServerError: "a fault in the service",
	499:                            "the client disconnected",
}

func operatorOverview(v *page.Visit, sums *otter.Cache[book.Day, []book.DaySum]) (any, error) {
	ctx := v.Context()
	now, err := v.Ledger.Now(ctx)
	if err != nil {
		return nil, err
	}
	first, last := book.DayOf(now)-account.ChartDays+1, book.DayOf(now)
	load := func(ctx context.Context, last book.Day) ([]book.DaySum, error) {
		return v.Ledger.UsageOfAll(ctx, first, last)
	}
	days, err := sums.Get(ctx, last, otter.LoaderFunc[book.Day, []book.DaySum](load))
	if err != nil {
		return nil, err
	}
	view := Overview{Days: []DayErrors{}, Top: []book.Account{}, Refused: []StatusCount{}}
	points := slices.Repeat([][]int64{{0}}, account.ChartDays)
	for _, d := range days {
		points[d.Day-first] = []int64{d.Points}
		view.Days = append(view.Days, DayErrors{d.Day.String(), d.Requests, d.Errors})
		view.Sum.Requests, view.Sum.Errors = view.Sum.Requests+d.Requests, view.Sum.Errors+d.Errors
	}
	view.Chart = account.NewChart([]string{"All accounts"}, false, first, points)
	for status, n := range v.Refused() {
		why := cmp.Or(refusedWhy[status], strings.ToLower(http.StatusText(status)))
		view.Refused = append(view.Refused, StatusCount{status, why, n})
	}
	slices.SortFunc(view.Refused, func(a, b StatusCount) int { return cmp.Compare(a.Status, b.Status) })
	top, err := v.Ledger.TopAccounts(ctx, topAccounts)
	view.Top = append(view.Top, top...)
	return view, err
}

// AccountsView is the operator's list of accounts.
type AccountsView struct {
	Accounts []book.Account `json:"accounts"`
	Search   string         `json:"search"`
	Next     int64          `json:"next,omitempty"` // the value of "after" for the next page
	Plans    []string       `json:"plans"`
}

func accounts(v *page.Visit) (any, error) {
	query := v.Request.URL.Query()
	wanted := book.AccountPage{Limit: accountsOnPage + 1, Search: query.Get("search")}
	wanted.After, _ = strconv.ParseInt(query.Get("after"), 10, 64) // anything else is the first page
	found, err := v.Ledger.Accounts(v.Context(), wanted)
	if err != nil {
		return nil, err
	}
	view := AccountsView{Accounts: append([]book.Account{}, found...), Search: wanted.Search}
	if len(found) > accountsOnPage {
		view.Accounts = found[:accountsOnPage]
		view.Next = found[accountsOnPage-1].ID
	}
	view.Plans, err = planNames(v)
	return view, err
}

func planNames(v *page.Visit) (names []string, err error) {
	plans, err := v.Ledger.Plans(v.Context())
	for _, p := range plans {
		names = append(names, p.Name)
	}
	return names, err
}

// accountTerms reads a form, in which an empty limit follows the plan.
func accountTerms(v *page.Visit) (t book.Terms, err error) {
	t.Plan = v.Form.Get("plan")
	if t.Rate, err = v.Limit("rate"); err != nil {
		return t, err
	}
	if t.Points, err = v.Limit("points"); err != nil {
		return t, err
	}
	switch overage := v.Form.Get("overage"); overage {
	case "":
	case "on", "yes", "no":
		t.Overage = new(bool)
		*t.Overage = overage != "no"
	default:
		return t, page.InputProblem("overage", "Overage must be yes, no or empty for the plan's.")
	}
	return t, nil
}

// AccountView is the operator's page of one account.
type AccountView struct {
	Account    book.Account        `json:"account"`
	Own        OwnTerms            `json:"own_terms"`
	Plans      []string            `json:"plans"`
	Keys       []account.KeyView   `json:"keys"`
	Log        []account.AuditView `json:"audit_log"`
	InProgress int                 `json:"requests_in_progress"` // on this server
	// Link is a one-time link that was just made.
	Link string `json:"link,omitempty"`
}

// OwnTerms are an account's own limits as the fields of a form.
type OwnTerms struct {
	Rate    string `json:"rate"`
	Points  string `json:"points"`
	Overage string `json:"overage"`
}

func operatorAccount(v *page.Visit) (view AccountView, err error) {
	id, err := v.ID()
	if err != nil {
		return view, err
	}
	ctx := v.Context()
	a, err := v.Ledger.Account(ctx, id)
	if err != nil {
		return view, err
	}
	view = AccountView{Account: a, Own: OwnTerms{page.LimitField(a.Own.Rate), page.LimitField(a.Own.Points), ""},
		InProgress: v.Ledger.InProgress(id), Log: []account.AuditView{}}
	if a.Own.Overage != nil {
		view.Own.Overage = map[bool]string{true: "yes", false: "no"}[*a.Own.Overage]
	}
	if view.Plans, err = planNames(v); err != nil {
		return view, err
	}
	keys, err := v.Ledger.ListKeys(ctx, id, book.KeyPage{Limit: account.KeysOnPage})
	if err != nil {
		return view, err
	}
	if view.Keys, err = account.ViewKeys(v, id, keys); err != nil {
		return view, err
	}
	lines, err := v.Ledger.AuditLog(ctx, id, 0, linesOnPage)
	for _, line := range lines {
		view.Log = append(view.Log, account.ViewOfAudit(line))
	}
	return view, err
}

func changeAccount(v *page.Visit) (done *page.Outcome, err error) {
	ctx := v.Context()
	id, err := v.ID()
	if err != nil {
		return nil, err
	}
	if _, err := v.Ledger.Account(ctx, id); err != nil {
		return nil, err
	}
	switch v.Form.Get("do") {
	case "terms":
		var terms book.Terms
		if terms, err = accountTerms(v); err == nil {
			done, err = v.Done("account-changed"), v.Ledger.ChangeTerms(ctx, id, terms)
		}
	case "suspend":
		if id == v.User.Account {
			return nil, page.InputProblem("", "You cannot suspend your own account.")
		}
		done, err = v.Done("account-suspended"), v.Ledger.SuspendAccount(ctx, id)
	case "resume":
		done, err = v.Done("account-resumed"), v.Ledger.ResumeAccount(ctx, id)
	case "link":
		done, err = makeLink(v, id)
	default:
		err = page.InputProblem("do", "The field \"do\" must be terms, suspend, resume or link.")
	}
	return done, page.FormProblem(err)
}

// makeLink makes a one-time link for an account's owner, which is shown once. It gives access to the
// account, so the operator proves first who they are.
func makeLink(v *page.Visit, account int64) (*page.Outcome, error) {
	if err := v.Confirmed(); err != nil {
		return nil, err
	}
	token, err := v.Identity.CreateLink(v.Context(), account)
	if err != nil {
		return nil, err
	}
	link := v.Link("/link/" + url.PathEscape(token))
	return v.ShowOnce(v.Done(""), func() (any, error) {
		view, err := operatorAccount(v)
		view.Link = link
		return view, err
	}, link)
}

type healthView struct {
	Parts []page.Health `json:"parts"`
}

type plansView struct {
	Plans         []book.Plan `json:"plans"`
	DefaultStored int64       `json:"-"`
}

// putPlan adds a plan or replaces the one with its name, from the next request of
// its accounts on.
func putPlan(v *page.Visit) (*page.Outcome, error) {
	plan := book.Plan{Name: v.Form.Get("name"), Overage: v.Form.Get("overage") != "", Stored: book.DefaultStored}
	for field, limit := range map[string]*book.Limit{"rate": &plan.Rate, "points": &plan.Points} {
		given, err := v.Limit(field)
		if err != nil {
			return nil, err
		}
		if given == nil {
			return nil, page.InputProblem(field, "Give both rate and points: a number, or unlimited.")
		}
		*limit = *given
	}
	if text := strings.TrimSpace(v.Form.Get("stored")); text != "" {
		stored, err := humanize.ParseBytes(text)
		if err != nil || stored > math.MaxInt64 {
			return nil, page.InputProblem("stored", "The size of stored responses must be a number with a unit, such as "+
				humanize.IBytes(book.DefaultStored)+".")
		}
		plan.Stored = int64(stored)
	}
	err := v.Ledger.StorePlans(v.Context(), []book.Plan{plan})
	return page.Redirect(plansPath, "plan-stored"), page.FormProblem(err)
}
