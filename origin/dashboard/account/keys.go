package account

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

// KeysOnPage is how many keys the page API keys lists at a time.
const KeysOnPage = 50

// KeysView is the page API keys.
type KeysView struct {
	Keys    []KeyView `json:"keys"`
	Search  string    `json:"search"`
	Revoked bool      `json:"revoked"`        // revoked keys are listed too
	Next    int64     `json:"next,omitempty"` // the value of "after" for the next page
	// New is a key that was just created, with its secret, which is shown only
	// this once.
	New   *NewKeyView `json:"new,omitempty"`
	Terms termsForm   `json:"-"`
}

func keysPage(v *page.Visit) (any, error) {
	view, err := listKeys(v)
	if err != nil {
		return nil, err
	}
	// The query "new" names a key that was just created in this browser.
	if id, err := strconv.ParseInt(v.Request.URL.Query().Get("new"), 10, 64); err == nil {
		k, err := v.Ledger.Key(v.Context(), v.User.Account, id)
		if err == nil {
			view.New = newKey(v, k, v.ShownOnce())
		} else if !errors.Is(err, book.ErrNoKey) {
			return nil, err
		}
	}
	view.Terms.Policies, err = policyNames(v)
	return view, err
}

func listKeys(v *page.Visit) (view KeysView, err error) {
	query := v.Request.URL.Query()
	wanted := book.KeyPage{Limit: KeysOnPage + 1, Search: query.Get("search"), Revoked: query.Has("revoked")}
	wanted.After, _ = strconv.ParseInt(query.Get("after"), 10, 64) // anything else is the first page
	keys, err := v.Ledger.ListKeys(v.Context(), v.User.Account, wanted)
	if err != nil {
		return view, err
	}
	view = KeysView{Search: wanted.Search, Revoked: wanted.Revoked}
	if len(keys) > KeysOnPage {
		keys = keys[:KeysOnPage]
		view.Next = keys[KeysOnPage-1].ID
	}
	view.Keys, err = ViewKeys(v, v.User.Account, keys)
	return view, err
}

func createKey(v *page.Visit) (*page.Outcome, error) {
	terms, err := keyTerms(v)
	if err != nil {
		return nil, err
	}
	create := v.Ledger.CreateKey
	if v.Form.Get("test") != "" {
		create = v.Ledger.CreateTestKey
	}
	secret, key, err := create(v.Context(), v.User.Account, strings.TrimSpace(v.Form.Get("name")), terms)
	if err != nil {
		return nil, page.FormProblem(err)
	}
	to := page.Redirect("/dashboard/keys?new="+strconv.FormatInt(key.ID, 10), "")
	return v.ShowOnce(to, func() (any, error) {
		view, err := listKeys(v)
		view.New = newKey(v, key, []string{secret})
		return view, err
	}, secret)
}

// A NewKeyView is a secret that was just made.
type NewKeyView struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Secret string `json:"secret"`
	Curl   string `json:"curl"`
	// Until is the end of the old secret of a key that was rotated.
	Until time.Time `json:"old_secret_until,omitzero"`
}

func newKey(v *page.Visit, k book.Key, secrets []string) *NewKeyView {
	if len(secrets) != 1 {
		return nil
	}
	curl := "curl -H 'X-API-Key: " + secrets[0] + "' "
	if len(k.Origins) > 0 {
		curl += "-H 'Origin: " + k.Origins[0] + "' "
	}
	email := "jane.doe+news@hotmial.com"
	if k.Test {
		email = "disposable@addrspec.test"
	}
	return &NewKeyView{k.ID, k.Name, secrets[0], curl + v.Link("/v1/email/"+email), k.Replaced}
}

func keyTerms(v *page.Visit) (t book.KeyTerms, err error) {
	now, err := v.Ledger.Now(v.Context())
	if err != nil {
		return t, err
	}
	if t.Expires, err = book.ParseExpiry(strings.TrimSpace(v.Form.Get("expires")), now); err != nil {
		return t, page.InputProblem("expires", page.Sentence(err))
	}
	if t.Budget, err = v.Limit("budget"); err != nil {
		return t, err
	}
	if t.Rate, err = v.Limit("rate"); err != nil {
		return t, err
	}
	t.Policy = v.Form.Get("policy")
	for _, text := range v.Form["origins"] {
		t.Origins = append(t.Origins, strings.Fields(text)...)
	}
	return t, nil
}

// KeyView is a key as pages and JSON show it.
type KeyView struct {
	book.Key
	Status   string    `json:"status"`                    // active, expired or revoked
	LastUsed string    `json:"last_used,omitempty"`       // a day
	Until    time.Time `json:"old_secret_until,omitzero"` // end of the grace after a rotation
	Days     []barView `json:"days"`                      // the last 30
}

// ViewKeys returns keys of an account with their use in the last 30 days.
func ViewKeys(v *page.Visit, account int64, list []book.Key) ([]KeyView, error) {
	now, err := v.Ledger.Now(v.Context())
	if err != nil {
		return nil, err
	}
	last := book.DayOf(now)
	ids := make([]int64, len(list))
	for i, k := range list {
		ids[i] = k.ID
	}
	days, err := v.Ledger.UsageOfKeys(v.Context(), account, ids, last-barDays+1, last)
	views := make([]KeyView, len(list))
	for i, k := range list {
		views[i] = ViewOfKey(k, now)
		views[i].Days = bars(k.ID, days, last)
	}
	return views, err
}

func ViewOfKey(k book.Key, now time.Time) KeyView {
	view := KeyView{Key: k, Status: "active"}
	if k.LastDay != 0 {
		view.LastUsed = k.LastDay.String()
	}
	switch {
	case !k.Revoked.IsZero():
		view.Status = "revoked"
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		view.Status = "expired"
	default:
		view.Until = k.Replaced // of a key that is refused, neither secret is valid
	}
	return view
}

// KeyPageView is the page of one key.
type KeyPageView struct {
	Key    KeyView     `json:"key"`
	New    *NewKeyView `json:"new,omitempty"`
	Terms  termsForm   `json:"-"`
	Graces []Grace     `json:"-"`
}

type termsForm struct {
	Expires, Budget, Rate, Origins, Policy string

	Policies []string // that the key can have
	Test     bool     // it has neither budget nor rate
}

// keyPage is the page of one key, which shows a secret that was just made, and the page
// that asks before one is revoked.
func keyPage(v *page.Visit) (any, error) {
	k, err := ownKey(v)
	if err != nil {
		return nil, err
	}
	views, err := ViewKeys(v, k.Account, []book.Key{k})
	if err != nil {
		return nil, err
	}
	terms := termsForm{Budget: page.LimitField(k.Budget), Rate: page.LimitField(k.Rate),
		Origins: strings.Join(k.Origins, "\n"), Policy: k.Policy, Test: k.Test}
	if !k.Expires.IsZero() {
		terms.Expires = k.Expires.UTC().Format(time.DateOnly)
	}
	terms.Policies, err = policyNames(v)
	return KeyPageView{views[0], newKey(v, k, v.ShownOnce()), terms, graces}, err
}

func ownKey(v *page.Visit) (book.Key, error) {
	id, err := v.ID()
	if err != nil {
		return book.Key{}, err
	}
	k, err := v.Ledger.Key(v.Context(), v.User.Account, id)
	if err == nil && k.Dashboard {
		err = page.ErrNotFound
	}
	return k, err
}

// changeKey changes a key's name and terms. A field that a program leaves out
// keeps its value; a form has all fields.
func changeKey(v *page.Visit) (*page.Outcome, error) {
	k, err := ownKey(v)
	if err != nil {
		return nil, err
	}
	given, err := keyTerms(v)
	if err != nil {
		return nil, err
	}
	change := book.KeyChange{Terms: &k.KeyTerms}
	for field, set := range map[string]func(){
		"name":    func() { name := strings.TrimSpace(v.Form.Get("name")); change.Name = &name },
		"expires": func() { k.Expires = given.Expires },
		"budget":  func() { k.Budget = given.Budget },
		"rate":    func() { k.Rate = given.Rate },
		"origins": func() { k.Origins = given.Origins },
		"policy":  func() { k.Policy = given.Policy },
	} {
		if v.Form.Has(field) {
			set()
		}
	}
	err = v.Ledger.ChangeKey(v.Context(), k.Account, k.ID, change)
	return v.Done("key-changed"), page.FormProblem(err)
}

// graces are how long the old secret of a rotated key may remain valid.
var graces = []Grace{
	{"0s", "not at all: it may be known to others"}, {"1h", "1 hour"}, {"24h", "24 hours"}, {"168h", "7 days"}}

type Grace struct{ Value, Label string }

func rotateKey(v *page.Visit) (*page.Outcome, error) {
	k, err := ownKey(v)
	if err != nil {
		return nil, err
	}
	length, err := time.ParseDuration(v.Form.Get("grace"))
	if err != nil || length < 0 || length > book.MaxGrace {
		return nil, page.InputProblem("grace", "The grace must be a time from 0s to 168h, such as 24h.")
	}
	secret, k, err := v.Ledger.RotateKey(v.Context(), k.Account, k.ID, length)
	if err != nil {
		return nil, page.FormProblem(err)
	}
	return v.ShowOnce(page.Redirect("/dashboard/keys/"+strconv.FormatInt(k.ID, 10), ""), func() (any, error) {
		views, err := ViewKeys(v, k.Account, []book.Key{k})
		if err != nil {
			return nil, err
		}
		return KeyPageView{Key: views[0], New: newKey(v, k, []string{secret})}, nil
	}, secret)
}
