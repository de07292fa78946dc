package dashboard

import (
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// keysView is the page API keys.
type keysView struct {
	Keys []keyView `json:"keys"`
	// New is a key that was just created, with its secret, which is shown only
	// this once.
	New *newKeyView `json:"new,omitempty"`
}

type keyView struct {
	ID      int64     `json:"id"`
	Name    string    `json:"name"`
	Begins  string    `json:"begins"` // the first characters of the secret
	Created time.Time `json:"created"`
	LastDay string    `json:"last_used,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
	Revoked time.Time `json:"revoked,omitzero"`
	Status  string    `json:"status"`
}

type newKeyView struct {
	keyView
	Secret string `json:"secret"`
	URL    string `json:"-"`
}

func (d *Dashboard) keys(v *visit) (any, error) {
	list, err := d.Ledger.ListKeys(v.r.Context(), v.user.Account, ledger.KeyPage{Revoked: true})
	view := keysView{Keys: []keyView{}}
	for _, k := range list {
		view.Keys = append(view.Keys, viewOfKey(k, time.Now()))
	}
	return view, err
}

func viewOfKey(k ledger.Key, now time.Time) keyView {
	view := keyView{ID: k.ID, Name: k.Name, Begins: k.Hint, Created: k.Created, Expires: k.Expires, Revoked: k.Revoked, Status: "active"}
	if k.LastDay != 0 {
		view.LastDay = k.LastDay.String()
	}
	switch {
	case !k.Revoked.IsZero():
		view.Status = "revoked"
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		view.Status = "expired"
	}
	return view
}

// createKey creates a key and shows its secret. The page is the answer to the
// POST itself: the secret is in no address, cookie or store.
func (d *Dashboard) createKey(v *visit) (*result, error) {
	secret, key, err := d.Ledger.CreateKey(v.r.Context(), v.user.Account, v.form.Get("name"), ledger.KeyTerms{})
	if err != nil {
		return nil, inputProblem("name", sentence(err))
	}
	data, err := d.keys(v)
	if err != nil {
		return nil, err
	}
	view := data.(keysView)
	view.New = &newKeyView{viewOfKey(key, time.Now()), secret, d.link("/v1/email/jane.doe+news@hotmial.com")}
	v.form = nil
	return show(view), nil
}

// key is the page that asks before a key is revoked.
func (d *Dashboard) key(v *visit) (any, error) {
	id, err := v.id()
	if err != nil {
		return nil, err
	}
	k, err := d.Ledger.Key(v.r.Context(), v.user.Account, id)
	if k.Dashboard {
		err = ledger.ErrNoKey
	}
	return viewOfKey(k, time.Now()), err
}

func (d *Dashboard) revokeKey(v *visit) (*result, error) {
	id, err := v.id()
	if err != nil {
		return nil, err
	}
	return redirect("/dashboard/keys", "key-revoked"), d.Ledger.RevokeKey(v.r.Context(), v.user.Account, id)
}
