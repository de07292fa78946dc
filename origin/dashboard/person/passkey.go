package person

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/identity"
)

// PasskeyView is the page of a ceremony with a passkey. A POST without a state
// begins one and returns State and Options; the module passkey.js hands Options to
// the browser, and a second POST brings back State and what the browser returned.
type PasskeyView struct {
	To          string          `json:"to,omitempty"`
	Path        string          `json:"-"`                     // of the ceremony's POSTs
	Unavailable string          `json:"unavailable,omitempty"` // why there are no passkeys here
	State       string          `json:"state,omitempty"`
	Options     json.RawMessage `json:"options,omitempty"`
}

// A passkeyForm is a form that passkey.js takes over.
type passkeyForm struct {
	Frame         *page.Frame
	Action, Label string
	To            string // the page that follows
	Autofill      bool   // offer passkeys in the autofill of another form
}

func NewPasskeyForm(f *page.Frame, action, label, to string, autofill bool) passkeyForm {
	return passkeyForm{f, action, label, to, autofill}
}

func passkeyPage(v *page.Visit) (any, error) {
	return PasskeyView{To: v.ReturnTo(), Path: v.Request.URL.Path, Unavailable: noPasskeys(v.Server)}, nil
}

// noPasskeys returns why passkeys cannot be used at this URL, or "".
func noPasskeys(d *page.Server) string {
	if d.Passkeys == nil {
		return page.Sentence(identity.ErrNoPasskeys)
	}
	return ""
}

// signInWithPasskey signs in by a passkey alone: it is both factors, since the
// authenticator has verified its user.
func signInWithPasskey(v *page.Visit) (*page.Outcome, error) {
	user, begun, err := usePasskey(v)
	if err != nil || begun != nil {
		return begun, err
	}
	return open(v, user, v.ReturnTo(), true)
}

// confirmWithPasskey proves again who is signed in. Another account's passkey
// proves nothing.
func confirmWithPasskey(v *page.Visit) (*page.Outcome, error) {
	user, begun, err := usePasskey(v)
	if err != nil || begun != nil {
		return begun, err
	}
	if user.Account != v.User.Account {
		return nil, identity.ErrPasskey
	}
	return page.Redirect(v.ReturnTo(), "confirmed"), v.Identity.Confirm(v.Context(), *v.Session)
}

// usePasskey begins a ceremony, or finishes the one that the form names.
func usePasskey(v *page.Visit) (user identity.User, begun *page.Outcome, err error) {
	if v.Passkeys == nil {
		return user, nil, identity.ErrNoPasskeys
	}
	if state := v.Form.Get("state"); state != "" {
		user, err = v.Passkeys.FinishUse(v.Context(), v.Token, state, v.Form.Get("credential"))
		return user, nil, err
	}
	begun, err = beginPasskey(v, func() (json.RawMessage, string, error) {
		return v.Passkeys.BeginUse(v.Context(), v.Token)
	})
	return user, begun, err
}

// beginPasskey responds with the options of a ceremony.
func beginPasskey(v *page.Visit, begin func() (json.RawMessage, string, error)) (*page.Outcome, error) {
	if err := v.Identity.Attempt(v.Context(), identity.Challenges, v.From()); err != nil {
		return nil, err
	}
	options, state, err := begin()
	if err != nil {
		return nil, err
	}
	return page.Show(PasskeyView{To: v.ReturnTo(), Path: v.Request.URL.Path, State: state, Options: options}), nil
}

func passkeyAddPage(v *page.Visit) (any, error) {
	if err := v.Confirmed(); err != nil {
		return nil, err
	}
	return passkeyPage(v)
}

// addPasskey begins the registration of a passkey, or finishes it.
func addPasskey(v *page.Visit) (*page.Outcome, error) {
	if err := v.Confirmed(); err != nil {
		return nil, err
	}
	if v.Passkeys == nil {
		return nil, identity.ErrNoPasskeys
	}
	ctx, state := v.Context(), v.Form.Get("state")
	if state == "" {
		return beginPasskey(v, func() (json.RawMessage, string, error) { return v.Passkeys.BeginRegister(ctx, v.Token, *v.User) })
	}
	name := strings.TrimSpace(v.Form.Get("name"))
	return page.Redirect("/dashboard/settings", "passkey-added"),
		v.Passkeys.FinishRegister(ctx, v.Token, *v.User, state, name, v.Form.Get("credential"))
}

// passkeyToRemove is the page that asks before a passkey is removed.
func passkeyToRemove(v *page.Visit) (any, error) {
	list, err := v.Identity.ListPasskeys(v.Context(), v.User.Account)
	for _, p := range list {
		if p.ID == v.Request.PathValue("credential") {
			return viewOfPasskey(p), nil
		}
	}
	if err == nil {
		err = page.ErrNotFound
	}
	return nil, err
}

func removePasskey(v *page.Visit) (*page.Outcome, error) {
	if err := v.Confirmed(); err != nil {
		return nil, err
	}
	return page.Redirect("/dashboard/settings", "passkey-removed"),
		v.Identity.RemovePasskey(v.Context(), *v.User, v.Request.PathValue("credential"))
}

// A PasskeyItem is a passkey in the list.
type PasskeyItem struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"last_used,omitzero"`
}

func viewOfPasskey(p identity.Passkey) PasskeyItem {
	return PasskeyItem{p.ID, p.Name, p.Created, p.Used}
}
