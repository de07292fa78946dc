package person

import (
	"cmp"
	"encoding/json"
	"strings"

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

// passkeySignIn is the page on which a passkey signs in.
const passkeySignIn = "/sign-in/passkey"

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

// usePasskey begins a ceremony, or finishes the one that the form names. A passkey signs in alone: it is both
// factors, since the authenticator has verified its user. On another page than that of the sign-in it proves
// again who is signed in, of which another account's passkey proves nothing.
func usePasskey(v *page.Visit) (*page.Outcome, error) {
	ctx, state := v.Context(), v.Form.Get("state")
	if v.Passkeys == nil {
		return nil, identity.ErrNoPasskeys
	}
	if state == "" {
		return beginPasskey(v, func() (json.RawMessage, string, error) { return v.Passkeys.BeginUse(ctx, v.Token) })
	}
	user, err := v.Passkeys.FinishUse(ctx, v.Token, state, v.Form.Get("credential"))
	switch {
	case err != nil:
		return nil, err
	case v.Request.URL.Path == passkeySignIn:
		return open(v, user, v.ReturnTo(), true)
	case user.Account != v.User.Account:
		return nil, identity.ErrPasskey
	}
	return page.Redirect(v.ReturnTo(), "confirmed"), v.Identity.Confirm(ctx, *v.Session)
}

// addPasskey begins the registration of a passkey, or finishes it.
func addPasskey(v *page.Visit) (*page.Outcome, error) {
	ctx, state := v.Context(), v.Form.Get("state")
	if v.Passkeys == nil {
		return nil, identity.ErrNoPasskeys
	}
	if state == "" {
		return beginPasskey(v, func() (json.RawMessage, string, error) {
			return v.Passkeys.BeginRegister(ctx, v.Token, *v.User)
		})
	}
	name := strings.TrimSpace(v.Form.Get("name"))
	return page.Redirect("/dashboard/settings", "passkey-added"),
		v.Passkeys.FinishRegister(ctx, v.Token, *v.User, state, name, v.Form.Get("credential"))
}

// beginPasskey responds with the options of a ceremony.
func beginPasskey(v *page.Visit, begin func() (json.RawMessage, string, error)) (*page.Outcome, error) {
	if err := v.Identity.Attempt(v.Context(), identity.Challenges, v.From()); err != nil {
		return nil, err
	}
	options, state, err := begin()
	return page.Show(PasskeyView{To: v.ReturnTo(), Path: v.Request.URL.Path, State: state, Options: options}), err
}

// passkeyToRemove is the page that asks before a passkey is removed.
func passkeyToRemove(v *page.Visit) (any, error) {
	passkeys, err := v.Identity.ListPasskeys(v.Context(), v.User.Account)
	for _, p := range passkeys {
		if p.ID == v.Request.PathValue("credential") {
			return p, nil
		}
	}
	return nil, cmp.Or(err, error(page.ErrNotFound))
}

func removePasskey(v *page.Visit) (*page.Outcome, error) {
	return page.Redirect("/dashboard/settings", "passkey-removed"),
		v.Identity.RemovePasskey(v.Context(), *v.User, v.Request.PathValue("credential"))
}
