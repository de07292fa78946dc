package dashboard

import (
	"errors"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// The pages of operators. Each does what a command of addrspec does.

// accountsOnPage is how many accounts the operator's page lists at a time.
const accountsOnPage = 50

// accountsView is the operator's list of accounts.
type accountsView struct {
	Accounts []accountView `json:"accounts"`
	Search   string        `json:"search"`
	Next     int64         `json:"next,omitempty"` // the value of "after" for the next page
	Plans    []string      `json:"plans"`
}

// accountView is an account as pages and JSON show it.
type accountView struct {
	ID        int64      `json:"id"`
	Email     string     `json:"email"`
	Plan      string     `json:"plan"`
	Rate      book.Limit `json:"rate"`
	Points    book.Limit `json:"points"`
	Overage   bool       `json:"overage"`
	Used      int64      `json:"used"`
	Created   time.Time  `json:"created"`
	Suspended time.Time  `json:"suspended,omitzero"`
}

func viewOfAccount(a book.Account) accountView {
	return accountView{a.ID, a.Email, a.Plan, a.Rate, a.Points, a.Overage, a.Used, a.Created, a.Suspended}
}

// accounts lists accounts, with a part of the email in the query "search".
func (d *Dashboard) accounts(v *visit) (any, error) {
	query := v.r.URL.Query()
	page := book.AccountPage{Limit: accountsOnPage + 1, Search: query.Get("search")}
	page.After, _ = strconv.ParseInt(query.Get("after"), 10, 64) // anything else is the first page
	list, err := d.Ledger.Accounts(v.r.Context(), page)
	if err != nil {
		return nil, err
	}
	view := accountsView{Accounts: []accountView{}, Search: page.Search}
	if len(list) > accountsOnPage {
		list = list[:accountsOnPage]
		view.Next = list[accountsOnPage-1].ID
	}
	for _, a := range list {
		view.Accounts = append(view.Accounts, viewOfAccount(a))
	}
	view.Plans, err = v.planNames()
	return view, err
}

func (v *visit) planNames() (names []string, err error) {
	plans, err := v.Ledger.Plans(v.r.Context())
	for _, p := range plans {
		names = append(names, p.Name)
	}
	return names, err
}

func (d *Dashboard) createAccount(v *visit) (*outcome, error) {
	terms, err := v.terms()
	if err != nil {
		return nil, err
	}
	a, err := d.Ledger.CreateAccount(v.r.Context(), v.form.Get("email"), terms)
	if err != nil {
		return nil, accountProblem(err)
	}
	return redirect("/dashboard/operator/accounts/"+strconv.FormatInt(a.ID, 10), "account-created"), nil
}

// terms reads the terms of an account from a form. An empty limit follows the
// plan.
func (v *visit) terms() (t book.Terms, err error) {
	t.Plan = v.form.Get("plan")
	if t.Rate, err = v.limit("rate"); err != nil {
		return t, err
	}
	if t.Points, err = v.limit("points"); err != nil {
		return t, err
	}
	switch v.form.Get("overage") {
	case "":
	case "on", "yes":
		t.Overage = new(bool)
		*t.Overage = true
	case "no":
		t.Overage = new(bool)
	default:
		return t, inputProblem("overage", "Overage must be yes, no or empty for the plan's.")
	}
	return t, nil
}

// operatorAccountView is the operator's page of one account.
type operatorAccountView struct {
	Account    accountView `json:"account"`
	Own        ownTerms    `json:"own_terms"`
	Plans      []string    `json:"plans"`
	Keys       []keyView   `json:"keys"`
	Log        []auditView `json:"audit_log"`
	InProgress int         `json:"requests_under_way"` // on this server
	// Link is a one-time link that was just made.
	Link string `json:"link,omitempty"`
}

// ownTerms are an account's own limits as the fields of a form.
type ownTerms struct {
	Rate    string `json:"rate"`
	Points  string `json:"points"`
	Overage string `json:"overage"`
}

// linesOnPage is how many lines of the audit log an account's page has.
const linesOnPage = 20

func (d *Dashboard) operatorAccount(v *visit) (any, error) {
	view, err := v.operatorAccount()
	if err != nil {
		return nil, err // not a typed nil
	}
	if made := v.shownOnce(); len(made) == 1 {
		view.Link = made[0]
	}
	return *view, nil
}

func (v *visit) operatorAccount() (*operatorAccountView, error) {
	a, err := v.accountOfPath()
	if err != nil {
		return nil, err
	}
	ctx := v.r.Context()
	view := operatorAccountView{Account: viewOfAccount(a), Own: ownTermsOf(a.Own), InProgress: v.Ledger.InProgress(a.ID), Keys: []keyView{}, Log: []auditView{}}
	if view.Plans, err = v.planNames(); err != nil {
		return nil, err
	}
	keys, err := v.Ledger.ListKeys(ctx, a.ID, book.KeyPage{Limit: keysOnPage})
	if err != nil {
		return nil, err
	}
	if view.Keys, err = v.viewKeysOf(a.ID, keys); err != nil {
		return nil, err
	}
	lines, err := v.Ledger.AuditLog(ctx, a.ID, 0, linesOnPage)
	for _, line := range lines {
		view.Log = append(view.Log, viewOfAudit(line))
	}
	return &view, err
}

func ownTermsOf(t book.Terms) ownTerms {
	own := ownTerms{limitField(t.Rate), limitField(t.Points), ""}
	if t.Overage != nil {
		own.Overage = map[bool]string{true: "yes", false: "no"}[*t.Overage]
	}
	return own
}

// accountOfPath returns the account with the ID of the path.
func (v *visit) accountOfPath() (book.Account, error) {
	id, err := v.id()
	if err != nil {
		return book.Account{}, err
	}
	return v.Ledger.Account(v.r.Context(), id)
}

// changeAccount does what the field "do" says.
func (d *Dashboard) changeAccount(v *visit) (*outcome, error) {
	a, err := v.accountOfPath()
	if err != nil {
		return nil, err
	}
	action, ok := accountActions[v.form.Get("do")]
	if !ok {
		return nil, inputProblem("do", "The field \"do\" must be terms, suspend, resume or link.")
	}
	done, err := action(v, a)
	if err != nil {
		return nil, accountProblem(err)
	}
	return done, nil
}

// accountActions are what an operator does with an account.
var accountActions = map[string]func(*visit, book.Account) (*outcome, error){
	"terms": func(v *visit, a book.Account) (*outcome, error) {
		terms, err := v.terms()
		if err != nil {
			return nil, err
		}
		return v.done("account-changed"), v.Ledger.ChangeTerms(v.r.Context(), a.ID, terms)
	},
	"suspend": func(v *visit, a book.Account) (*outcome, error) {
		if a.ID == v.user.Account {
			return nil, inputProblem("", "You cannot suspend your own account.")
		}
		return v.done("account-suspended"), v.Ledger.SuspendAccount(v.r.Context(), a.ID)
	},
	"resume": func(v *visit, a book.Account) (*outcome, error) {
		return v.done("account-resumed"), v.Ledger.ResumeAccount(v.r.Context(), a.ID)
	},
	"link": (*visit).makeLink,
}

// done returns to the page with a message.
func (v *visit) done(message string) *outcome { return redirect(v.r.URL.Path, message) }

// makeLink makes a one-time link for an account's owner, which is shown once. It gives access to the
// account, so the operator proves first who they are.
func (v *visit) makeLink(a book.Account) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	token, err := v.Identity.CreateLink(v.r.Context(), a.ID)
	if err != nil {
		return nil, err
	}
	link := v.link("/link/" + url.PathEscape(token))
	return v.showOnce(v.done(""), func() (any, error) {
		view, err := v.operatorAccount()
		if err != nil {
			return nil, err
		}
		view.Link = link
		return *view, nil
	}, link)
}

// accountProblem returns an error of a change to an account as a problem with the
// form.
func accountProblem(err error) error {
	var p *problem
	if errors.As(err, &p) || errors.Is(err, store.ErrUnavailable) || errors.Is(err, book.ErrNoAccount) {
		return err
	}
	return inputProblem("", sentence(err))
}

// A Health is the state of one part of the service.
type Health struct {
	Part   string `json:"part"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // what is wrong and what to do, or a version
}

// healthView is the operator's page of health.
type healthView struct {
	Parts []Health `json:"parts"`
}

func (d *Dashboard) health(v *visit) (any, error) {
	return healthView{d.Health(v.r.Context())}, nil
}

// plansView is the operator's page of plans.
type plansView struct {
	Plans         []book.Plan `json:"plans"`
	DefaultStored int64       `json:"-"`
}

func (d *Dashboard) plans(v *visit) (any, error) {
	plans, err := d.Ledger.Plans(v.r.Context())
	return plansView{plans, book.DefaultStored}, err
}

// putPlan adds a plan or replaces the one with its name, from the next request of
// its accounts on.
func (d *Dashboard) putPlan(v *visit) (*outcome, error) {
	plan := book.Plan{Name: v.form.Get("name"), Overage: v.form.Get("overage") != "", Stored: book.DefaultStored}
	for field, limit := range map[string]*book.Limit{"rate": &plan.Rate, "points": &plan.Points} {
		given, err := v.limit(field)
		if err != nil {
			return nil, err
		}
		if given == nil {
			return nil, inputProblem(field, "Give both rate and points: a number, or unlimited.")
		}
		*limit = *given
	}
	if text := strings.TrimSpace(v.form.Get("stored")); text != "" {
		stored, err := humanize.ParseBytes(text)
		if err != nil || stored > math.MaxInt64 {
			return nil, inputProblem("stored", "The size of stored responses must be a number with a unit, such as "+humanize.IBytes(book.DefaultStored)+".")
		}
		plan.Stored = int64(stored)
	}
	if err := d.Ledger.StorePlans(v.r.Context(), []book.Plan{plan}); err != nil {
		return nil, accountProblem(err)
	}
	return redirect("/dashboard/operator/plans", "plan-stored"), nil
}
