package dashboard

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
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
	keyPolicies
}

// keys lists a page of the account's keys, newest first. After a key was created it
// shows its secret.
func (d *Dashboard) keys(v *visit) (any, error) {
	view, err := v.keys()
	if err != nil {
		return nil, err
	}
	if view.New, err = v.createdKey(); err == nil {
		view.names, err = v.policyNames()
	}
	return view, err
}

func (v *visit) keys() (view keysView, err error) {
	query := v.r.URL.Query()
	page := book.KeyPage{Limit: keysOnPage + 1, Search: query.Get("search"), Revoked: query.Has("revoked")}
	page.After, _ = strconv.ParseInt(query.Get("after"), 10, 64) // anything else is the first page
	list, err := v.Ledger.ListKeys(v.r.Context(), v.user.Account, page)
	if err != nil {
		return view, err
	}
	view = keysView{Keys: []keyView{}, Search: page.Search, Revoked: page.Revoked}
	if len(list) > keysOnPage {
		list = list[:keysOnPage]
		view.Next = list[keysOnPage-1].ID
	}
	view.Keys, err = v.viewKeys(list)
	return view, err
}

// createdKey returns the key that the query "new" names, if it was just created in
// this browser.
func (v *visit) createdKey() (*newKeyView, error) {
	id, err := strconv.ParseInt(v.r.URL.Query().Get("new"), 10, 64)
	if err != nil {
		return nil, nil
	}
	k, err := v.Ledger.Key(v.r.Context(), v.user.Account, id)
	if errors.Is(err, book.ErrNoKey) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return v.newKey(k, v.shownOnce()), nil
}

// createKey creates a key and leads to the page that shows its secret.
func (d *Dashboard) createKey(v *visit) (*outcome, error) {
	terms, err := v.keyTerms()
	if err != nil {
		return nil, err
	}
	create := d.Ledger.CreateKey
	if v.form.Get("test") != "" {
		create = d.Ledger.CreateTestKey
	}
	secret, key, err := create(v.r.Context(), v.user.Account, strings.TrimSpace(v.form.Get("name")), terms)
	if err != nil {
		return nil, keyProblem(err)
	}
	to := redirect("/dashboard/keys?new="+strconv.FormatInt(key.ID, 10), "")
	return v.showOnce(to, func() (any, error) {
		view, err := v.keys()
		view.New = v.newKey(key, []string{secret})
		return view, err
	}, secret)
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

// newKey returns the view of a key's new secret, nil if there is none.
func (v *visit) newKey(k book.Key, secrets []string) *newKeyView {
	if len(secrets) != 1 {
		return nil
	}
	secret := secrets[0]
	curl := "curl -H 'X-API-Key: " + secret + "' "
	if len(k.Origins) > 0 {
		curl += "-H 'Origin: " + k.Origins[0] + "' "
	}
	email := "jane.doe+news@hotmial.com"
	if k.Test {
		email = "disposable@addrspec.test"
	}
	return &newKeyView{k.ID, k.Name, secret, curl + v.link("/v1/email/"+email), k.Replaced}
}

// keyTerms reads the terms of a key from a form.
func (v *visit) keyTerms() (t book.KeyTerms, err error) {
	now, err := v.Ledger.Now(v.r.Context())
	if err != nil {
		return t, err
	}
	if t.Expires, err = book.ParseExpiry(strings.TrimSpace(v.form.Get("expires")), now); err != nil {
		return t, inputProblem("expires", sentence(err))
	}
	if t.Budget, err = v.limit("budget"); err != nil {
		return t, err
	}
	if t.Rate, err = v.limit("rate"); err != nil {
		return t, err
	}
	t.Policy = v.form.Get("policy")
	for _, text := range v.form["origins"] {
		t.Origins = append(t.Origins, strings.Fields(text)...)
	}
	return t, nil
}

// limit reads a number of a form; nil for none.
func (v *visit) limit(field string) (*book.Limit, error) {
	text := strings.TrimSpace(v.form.Get(field))
	if text == "" {
		return nil, nil
	}
	limit, err := book.ParseLimit(text)
	if err != nil {
		return nil, inputProblem(field, sentence(err))
	}
	return &limit, nil
}

// keyView is a key as pages and JSON show it.
type keyView struct {
	ID       int64       `json:"id"`
	Name     string      `json:"name"`
	Begins   string      `json:"begins"` // the first characters of the secret
	Status   string      `json:"status"` // active, expired or revoked
	Test     bool        `json:"test"`
	Created  time.Time   `json:"created"`
	LastUsed string      `json:"last_used,omitempty"` // a day
	Expires  time.Time   `json:"expires,omitzero"`
	Revoked  time.Time   `json:"revoked,omitzero"`
	Until    time.Time   `json:"old_secret_until,omitzero"` // end of the grace after a rotation
	Budget   *book.Limit `json:"budget,omitempty"`          // points a month
	Used     int64       `json:"used"`                      // of the budget, this month
	Rate     *book.Limit `json:"rate,omitempty"`            // requests a second
	Origins  []string    `json:"origins,omitempty"`
	Policy   string      `json:"policy,omitempty"` // the default
	Days     []barView   `json:"days"`             // the last 30
}

// barDays is how many days the bars of a key show.
const barDays = 30

// viewKeys returns keys with their use in the last 30 days.
func (v *visit) viewKeys(list []book.Key) ([]keyView, error) {
	return v.viewKeysOf(v.user.Account, list)
}

// viewKeysOf does the same for another account, for operators.
func (v *visit) viewKeysOf(account int64, list []book.Key) ([]keyView, error) {
	now, err := v.Ledger.Now(v.r.Context())
	if err != nil {
		return nil, err
	}
	last := book.DayOf(now)
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

func viewOfKey(k book.Key, now time.Time) keyView {
	view := keyView{ID: k.ID, Name: k.Name, Begins: k.Hint, Status: "active", Test: k.Test, Created: k.Created, Expires: k.Expires, Revoked: k.Revoked,
		Budget: k.Budget, Used: k.Used, Rate: k.Rate, Origins: k.Origins, Policy: k.Policy}
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

// keyPage is the page of one key.
type keyPage struct {
	Key keyView     `json:"key"`
	New *newKeyView `json:"new,omitempty"`
	keyPolicies
}

// key is the page of one key, which shows a secret that was just made, and the page
// that asks before one is revoked.
func (d *Dashboard) key(v *visit) (any, error) {
	k, err := v.ownKey()
	if err != nil {
		return nil, err
	}
	views, err := v.viewKeys([]book.Key{k})
	if err != nil {
		return nil, err
	}
	names, err := v.policyNames()
	return keyPage{views[0], v.newKey(k, v.shownOnce()), keyPolicies{names}}, err
}

// ownKey returns the account's key with the ID of the path.
func (v *visit) ownKey() (book.Key, error) {
	id, err := v.id()
	if err != nil {
		return book.Key{}, err
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

func (v *visit) keyChange(k book.Key) (change book.KeyChange, err error) {
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
		"policy":  func() { terms.Policy = given.Policy },
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

// rotateKey gives a key a new secret and leads to the page that shows it.
func (d *Dashboard) rotateKey(v *visit) (*outcome, error) {
	k, err := v.ownKey()
	if err != nil {
		return nil, err
	}
	length, err := time.ParseDuration(v.form.Get("grace"))
	if err != nil || length < 0 || length > book.MaxGrace {
		return nil, inputProblem("grace", "The grace must be a time from 0s to 168h, such as 24h.")
	}
	secret, k, err := d.Ledger.RotateKey(v.r.Context(), k.Account, k.ID, length)
	if err != nil {
		return nil, keyProblem(err)
	}
	return v.showOnce(redirect("/dashboard/keys/"+strconv.FormatInt(k.ID, 10), ""), func() (any, error) {
		views, err := v.viewKeys([]book.Key{k})
		if err != nil {
			return nil, err
		}
		return keyPage{Key: views[0], New: v.newKey(k, []string{secret})}, nil
	}, secret)
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
	if errors.Is(err, book.ErrSuspended) || errors.Is(err, store.ErrUnavailable) || errors.Is(err, book.ErrNoKey) || errors.Is(err, book.ErrNoAccount) {
		return err
	}
	return inputProblem("", sentence(err))
}

// termsForm has the terms of a key as the fields of a form.
type termsForm struct {
	Expires, Budget, Rate, Origins, Policy string

	Policies []string // that the key can have
	Test     bool     // it has neither budget nor rate
}

// keyPolicies are the names of the account's policies, for the pages of keys.
type keyPolicies struct{ names []string }

func (p keyPolicies) policyNames() []string { return p.names }

// termsForm returns the form with given terms.
func (f *frame) termsForm(stored termsForm) termsForm {
	return termsForm{f.Kept("expires", stored.Expires), f.Kept("budget", stored.Budget), f.Kept("rate", stored.Rate), f.Kept("origins", stored.Origins),
		f.Kept("policy", stored.Policy), f.Data.(interface{ policyNames() []string }).policyNames(), stored.Test}
}

// termsOfKey returns the terms of a key that exists, or those that were given if the
// form is shown again.
func termsOfKey(f *frame, k keyView) termsForm {
	t := termsForm{Budget: limitField(k.Budget), Rate: limitField(k.Rate), Origins: strings.Join(k.Origins, "\n"), Policy: k.Policy, Test: k.Test}
	if !k.Expires.IsZero() {
		t.Expires = k.Expires.UTC().Format(time.DateOnly)
	}
	return f.termsForm(t)
}

// termsOf returns the terms of a form that is shown again.
func termsOf(f *frame) termsForm { return f.termsForm(termsForm{}) }

func limitField(l *book.Limit) string {
	if l == nil {
		return ""
	}
	return l.String()
}

// Bounds of forms that arrive. A form is read before its request takes a slot of
// pages, so that clients that send slowly keep nobody from a page: 16 MiB of forms,
// for a few seconds each.
const (
	maxForms     = 256             // arriving at a time
	maxFormsEach = 16              // of a network
	formTime     = 3 * time.Second // for one to arrive
)

// Bounds of forms with documents of policies. They are larger, so there are fewer: 32 MiB
// that arrive, and a few pages that have a document as text, as a form and as HTML.
const (
	maxDocument        = 1 << 20 // bytes of such a form
	maxDocuments       = 32      // arriving at a time
	maxDocumentsEach   = 4       // of a network
	maxPolicyPages     = 8       // in progress at a time
	maxPolicyPagesEach = 2       // of an account
)

// formLimit returns the limit on the bytes of the form of a request.
func formLimit(r *http.Request) int64 {
	if r.URL.Path == policiesPath || strings.HasPrefix(r.URL.Path, policiesPath+"/") {
		return maxDocument
	}
	return maxForm
}

var errSlowForm = &problem{status: http.StatusRequestTimeout, code: "SLOW_FORM", sentence: "The form did not arrive within 3 seconds. Send it again."}

// receive reads the form of a request, and returns the request with the form in
// memory. The body of a check is left to the API, which has its own bounds.
func (d *Dashboard) receive(w http.ResponseWriter, r *http.Request) (*http.Request, *problem) {
	if r.ContentLength == 0 || r.Body == nil || r.URL.Path == checkPath {
		return r, nil
	}
	arriving := d.forms
	if formLimit(r) > maxForm {
		arriving = d.documents
	}
	release, p := arriving.take(d.callerNetwork(r), 0)
	if p != nil {
		return r, p
	}
	defer release()
	body, err := readInTime(w, r)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return r, errSlowForm
	}
	if err != nil {
		return r, &problem{status: http.StatusBadRequest, code: "INVALID_REQUEST", sentence: "The form is incomplete."}
	}
	received := r.WithContext(r.Context())
	received.Body = io.NopCloser(bytes.NewReader(body))
	return received, nil
}

// readInTime reads a byte more than a form may have, so that readForm notices.
func readInTime(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(formTime)) // a test's writer has none
	body, err := io.ReadAll(io.LimitReader(r.Body, formLimit(r)+1))
	if err == nil {
		_ = control.SetReadDeadline(time.Time{})
	}
	return body, err
}

// confirmView is the page where people prove again who they are, with the ways
// that they have.
type confirmView struct {
	To       string `json:"to"`
	Password bool   `json:"password"`
	Code     bool   `json:"code"`
	Passkeys bool   `json:"passkeys"`
	OpenID   string `json:"openid,omitempty"` // the provider's name
}

// Possible reports whether the user has any way to confirm.
func (c confirmView) Possible() bool {
	return c.Password || c.Code || c.Passkeys || c.OpenID != ""
}

func (d *Dashboard) confirmPage(v *visit) (any, error) {
	view := confirmView{To: v.returnTo(), Password: v.user.HasPassword, Code: v.user.TOTP, Passkeys: v.user.Passkeys > 0 && d.passkeys != nil}
	if d.OpenID == nil {
		return view, nil
	}
	linked, err := d.Identity.ListLinked(v.r.Context(), v.user.Account)
	for _, l := range linked {
		if l.Issuer == d.OpenID.Issuer {
			view.OpenID = d.OpenID.Name
		}
	}
	return view, err
}

// confirm checks the password or a code again before a change of how the user
// signs in. One factor suffices: the session has had both.
func (d *Dashboard) confirm(v *visit) (*outcome, error) {
	check := d.confirmPassword
	if v.form.Get("code") != "" {
		check = d.confirmCode
	}
	if err := check(v); err != nil {
		return nil, err
	}
	return redirect(v.returnTo(), "confirmed"), d.Identity.Confirm(v.r.Context(), *v.session)
}

func (d *Dashboard) confirmPassword(v *visit) error {
	if err := d.Identity.Attempt(v.r.Context(), identity.ConfirmationsOfSession, strconv.FormatInt(v.session.ID, 10)); err != nil {
		return err
	}
	if _, err := d.Identity.CheckPassword(v.r.Context(), v.user.Email, v.form.Get("password")); err != nil {
		return inputProblem("password", "The password is wrong.")
	}
	return nil
}

func (d *Dashboard) confirmCode(v *visit) error {
	return d.Identity.CheckCode(v.r.Context(), *v.user, v.form.Get("code"))
}
