package dashboard

import (
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// keysOnPage is how many keys the page API keys lists at a time.
const keysOnPage = 50

// keysView is the page API keys.
type keysView struct {
	Keys    []keyView `json:"keys"`
	Search  string    `json:"search"`
	Revoked bool      `json:"revoked"`        // revoked keys are listed too
	Next    int64     `json:"next,omitempty"` // the value of "after" for the next page
	// New is a key that was just created, with its secret, which is shown only
	// this once.
	New *newKeyView `json:"new,omitempty"`
}

// keys lists a page of the account's keys, newest first.
func (d *Dashboard) keys(v *visit) (any, error) {
	query := v.r.URL.Query()
	page := ledger.KeyPage{Limit: keysOnPage + 1, Search: query.Get("search"), Revoked: query.Has("revoked")}
	page.After, _ = strconv.ParseInt(query.Get("after"), 10, 64) // anything else is the first page
	list, err := d.Ledger.ListKeys(v.r.Context(), v.user.Account, page)
	if err != nil {
		return nil, err
	}
	view := keysView{Keys: []keyView{}, Search: page.Search, Revoked: page.Revoked}
	if len(list) > keysOnPage {
		list = list[:keysOnPage]
		view.Next = list[keysOnPage-1].ID
	}
	view.Keys, err = v.viewKeys(list)
	return view, err
}

// createKey creates a key and shows its secret. The page is the answer to the
// POST itself: the secret is in no address, cookie or store.
func (d *Dashboard) createKey(v *visit) (*outcome, error) {
	terms, err := v.keyTerms()
	if err != nil {
		return nil, err
	}
	secret, key, err := d.Ledger.CreateKey(v.r.Context(), v.user.Account, strings.TrimSpace(v.form.Get("name")), terms)
	if err != nil {
		return nil, keyProblem(err)
	}
	data, err := d.keys(v)
	if err != nil {
		return nil, err
	}
	view := data.(keysView)
	view.New = v.newKey(key, secret)
	v.form = nil
	return show(view), nil
}

// A newKeyView is a secret that was just made.
type newKeyView struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Secret string `json:"secret"`
	Curl   string `json:"curl"`
	// Until is the end of the old secret of a key that was rotated.
	Until time.Time `json:"old_secret_until,omitzero"`
}

func (v *visit) newKey(k ledger.Key, secret string) *newKeyView {
	curl := "curl -H 'X-API-Key: " + secret + "' "
	if len(k.Origins) > 0 {
		curl += "-H 'Origin: " + k.Origins[0] + "' "
	}
	return &newKeyView{k.ID, k.Name, secret, curl + v.link("/v1/email/jane.doe+news@hotmial.com"), k.Replaced}
}

// keyTerms reads the terms of a key from a form.
func (v *visit) keyTerms() (t ledger.KeyTerms, err error) {
	now, err := v.Ledger.Now(v.r.Context())
	if err != nil {
		return t, err
	}
	if t.Expires, err = ledger.ParseExpiry(strings.TrimSpace(v.form.Get("expires")), now); err != nil {
		return t, inputProblem("expires", sentence(err))
	}
	if t.Budget, err = v.limit("budget"); err != nil {
		return t, err
	}
	if t.Rate, err = v.limit("rate"); err != nil {
		return t, err
	}
	for _, text := range v.form["origins"] {
		t.Origins = append(t.Origins, strings.Fields(text)...)
	}
	return t, nil
}

// limit reads a number of a form; nil for none.
func (v *visit) limit(field string) (*ledger.Limit, error) {
	text := strings.TrimSpace(v.form.Get(field))
	if text == "" {
		return nil, nil
	}
	limit, err := ledger.ParseLimit(text)
	if err != nil {
		return nil, inputProblem(field, sentence(err))
	}
	return &limit, nil
}
