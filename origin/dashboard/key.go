package dashboard

import (
	"errors"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// keyView is a key as pages and JSON show it.
type keyView struct {
	ID       int64         `json:"id"`
	Name     string        `json:"name"`
	Begins   string        `json:"begins"` // the first characters of the secret
	Status   string        `json:"status"` // active, expired or revoked
	Created  time.Time     `json:"created"`
	LastUsed string        `json:"last_used,omitempty"` // a day
	Expires  time.Time     `json:"expires,omitzero"`
	Revoked  time.Time     `json:"revoked,omitzero"`
	Until    time.Time     `json:"old_secret_until,omitzero"` // end of the grace after a rotation
	Budget   *ledger.Limit `json:"budget,omitempty"`          // points a month
	Used     int64         `json:"used"`                      // of the budget, this month
	Rate     *ledger.Limit `json:"rate,omitempty"`            // requests a second
	Origins  []string      `json:"origins,omitempty"`
	Days     []barView     `json:"days"` // the last 30
}

// barDays is how many days the bars of a key show.
const barDays = 30

// viewKeys returns keys with their use in the last 30 days.
func (v *visit) viewKeys(list []ledger.Key) ([]keyView, error) {
	return v.viewKeysOf(v.user.Account, list)
}

// viewKeysOf does the same for another account, for operators.
func (v *visit) viewKeysOf(account int64, list []ledger.Key) ([]keyView, error) {
	now, err := v.Ledger.Now(v.r.Context())
	if err != nil {
		return nil, err
	}
	last := ledger.DayOf(now)
	ids := []int64{}
	for _, k := range list {
		ids = append(ids, k.ID)
	}
	days, err := v.Ledger.UsageOfKeys(v.r.Context(), account, ids, last-barDays+1, last)
	views := make([]keyView, len(list))
	for i, k := range list {
		views[i] = viewOfKey(k, now)
		views[i].Days = bars(k.ID, days, last)
	}
	return views, err
}

func viewOfKey(k ledger.Key, now time.Time) keyView {
	view := keyView{ID: k.ID, Name: k.Name, Begins: k.Hint, Status: "active", Created: k.Created, Expires: k.Expires, Revoked: k.Revoked,
		Until: k.Replaced, Budget: k.Budget, Used: k.Used, Rate: k.Rate, Origins: k.Origins}
	if k.LastDay != 0 {
		view.LastUsed = k.LastDay.String()
	}
	switch {
	case !k.Revoked.IsZero():
		view.Status = "revoked"
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		view.Status = "expired"
	}
	return view
}

// keyPage is the page of one key.
type keyPage struct {
	Key keyView     `json:"key"`
	New *newKeyView `json:"new,omitempty"`
}

// key is the page of one key, and the page that asks before one is revoked.
func (d *Dashboard) key(v *visit) (any, error) {
	k, err := v.ownKey()
	if err != nil {
		return nil, err
	}
	views, err := v.viewKeys([]ledger.Key{k})
	if err != nil {
		return nil, err
	}
	return keyPage{Key: views[0]}, nil
}

// ownKey returns the account's key with the ID of the path.
func (v *visit) ownKey() (ledger.Key, error) {
	id, err := v.id()
	if err != nil {
		return ledger.Key{}, err
	}
	k, err := v.Ledger.Key(v.r.Context(), v.user.Account, id)
	if err == nil && k.Dashboard {
		err = errNotFound
	}
	return k, err
}

// changeKey changes a key's name and terms. A field that a program leaves out
// keeps its value; a form has all fields.
func (d *Dashboard) changeKey(v *visit) (*outcome, error) {
	k, err := v.ownKey()
	if err != nil {
		return nil, err
	}
	change, err := v.keyChange(k)
	if err != nil {
		return nil, err
	}
	if err := d.Ledger.ChangeKey(v.r.Context(), k.Account, k.ID, change); err != nil {
		return nil, keyProblem(err)
	}
	return redirect(v.r.URL.Path, "key-changed"), nil
}

func (v *visit) keyChange(k ledger.Key) (change ledger.KeyChange, err error) {
	if name, given := v.form["name"]; given {
		trimmed := strings.TrimSpace(name[0])
		change.Name = &trimmed
	}
	given, err := v.keyTerms()
	if err != nil {
		return change, err
	}
	terms := k.KeyTerms
	for field, set := range map[string]func(){
		"expires": func() { terms.Expires = given.Expires },
		"budget":  func() { terms.Budget = given.Budget },
		"rate":    func() { terms.Rate = given.Rate },
		"origins": func() { terms.Origins = given.Origins },
	} {
		if v.form.Has(field) {
			set()
		}
	}
	change.Terms = &terms
	return change, nil
}

// graces are how long the old secret of a rotated key may remain valid.
var graces = []grace{{"0s", "not at all: it may be known to others"}, {"1h", "1 hour"}, {"24h", "24 hours"}, {"168h", "7 days"}}

type grace struct{ Value, Label string }

// rotateKey gives a key a new secret and shows it.
func (d *Dashboard) rotateKey(v *visit) (*outcome, error) {
	k, err := v.ownKey()
	if err != nil {
		return nil, err
	}
	length, err := time.ParseDuration(v.form.Get("grace"))
	if err != nil || length < 0 || length > ledger.MaxGrace {
		return nil, inputProblem("grace", "The grace must be a time from 0s to 168h, such as 24h.")
	}
	secret, k, err := d.Ledger.RotateKey(v.r.Context(), k.Account, k.ID, length)
	if err != nil {
		return nil, keyProblem(err)
	}
	views, err := v.viewKeys([]ledger.Key{k})
	if err != nil {
		return nil, err
	}
	return show(keyPage{views[0], v.newKey(k, secret)}), nil
}

func (d *Dashboard) revokeKey(v *visit) (*outcome, error) {
	id, err := v.id()
	if err != nil {
		return nil, err
	}
	return redirect("/dashboard/keys", "key-revoked"), d.Ledger.RevokeKey(v.r.Context(), v.user.Account, id)
}

// keyProblem returns an error of a change to a key as a problem with the form.
func keyProblem(err error) error {
	if errors.Is(err, ledger.ErrUnavailable) || errors.Is(err, ledger.ErrNoKey) || errors.Is(err, ledger.ErrNoAccount) {
		return err
	}
	return inputProblem("", sentence(err))
}
