package dashboard

import (
	"encoding/json"
	"strings"

	"github.com/addrspec/addrspec/origin/identity"
)

// passkeyView is the page of a ceremony with a passkey. A POST without a state
// begins one and returns State and Options; the module passkey.js hands Options to
// the browser, and a second POST brings back State and what the browser returned.
type passkeyView struct {
	To          string          `json:"to,omitempty"`
	Path        string          `json:"-"`                     // of the ceremony's POSTs
	Unavailable string          `json:"unavailable,omitempty"` // why there are no passkeys here
	State       string          `json:"state,omitempty"`
	Options     json.RawMessage `json:"options,omitempty"`
}

// A passkeyForm is a form that passkey.js takes over.
type passkeyForm struct {
	Frame         *frame
	Action, Label string
	To            string // the page that follows
	Autofill      bool   // offer passkeys in the autofill of another form
}

func newPasskeyForm(f *frame, action, label, to string, autofill bool) passkeyForm {
	return passkeyForm{f, action, label, to, autofill}
}

func (d *Dashboard) passkeyPage(v *visit) (any, error) {
	return passkeyView{To: v.returnTo(), Path: v.r.URL.Path, Unavailable: d.noPasskeys()}, nil
}

// noPasskeys returns why passkeys cannot be used at this URL, or "".
func (d *Dashboard) noPasskeys() string {
	if d.passkeys == nil {
		return sentence(identity.ErrNoPasskeys)
	}
	return ""
}

// signInWithPasskey signs in by a passkey alone: it is both factors, since the
// authenticator has verified its user.
func (d *Dashboard) signInWithPasskey(v *visit) (*outcome, error) {
	user, begun, err := d.usePasskey(v)
	if err != nil || begun != nil {
		return begun, err
	}
	return v.open(user, v.returnTo(), true)
}

// confirmWithPasskey proves again who is signed in. Another account's passkey
// proves nothing.
func (d *Dashboard) confirmWithPasskey(v *visit) (*outcome, error) {
	user, begun, err := d.usePasskey(v)
	if err != nil || begun != nil {
		return begun, err
	}
	if user.Account != v.user.Account {
		return nil, identity.ErrPasskey
	}
	return redirect(v.returnTo(), "confirmed"), d.Identity.Confirm(v.r.Context(), *v.session)
}

// usePasskey begins a ceremony, or finishes the one that the form names.
func (d *Dashboard) usePasskey(v *visit) (user identity.User, begun *outcome, err error) {
	if d.passkeys == nil {
		return user, nil, identity.ErrNoPasskeys
	}
	if state := v.form.Get("state"); state != "" {
		user, err = d.passkeys.FinishUse(v.r.Context(), v.token, state, v.form.Get("credential"))
		return user, nil, err
	}
	begun, err = d.beginPasskey(v, func() (json.RawMessage, string, error) {
		return d.passkeys.BeginUse(v.r.Context(), v.token)
	})
	return user, begun, err
}

// beginPasskey responds with the options of a ceremony.
func (d *Dashboard) beginPasskey(v *visit, begin func() (json.RawMessage, string, error)) (*outcome, error) {
	if err := d.Identity.Attempt(v.r.Context(), identity.Challenges, v.from()); err != nil {
		return nil, err
	}
	options, state, err := begin()
	if err != nil {
		return nil, err
	}
	return show(passkeyView{To: v.returnTo(), Path: v.r.URL.Path, State: state, Options: options}), nil
}

func (d *Dashboard) passkeyAddPage(v *visit) (any, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	return d.passkeyPage(v)
}

// addPasskey begins the registration of a passkey, or finishes it.
func (d *Dashboard) addPasskey(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	if d.passkeys == nil {
		return nil, identity.ErrNoPasskeys
	}
	ctx, state := v.r.Context(), v.form.Get("state")
	if state == "" {
		return d.beginPasskey(v, func() (json.RawMessage, string, error) { return d.passkeys.BeginRegister(ctx, v.token, *v.user) })
	}
	name := strings.TrimSpace(v.form.Get("name"))
	return redirect("/dashboard/settings", "passkey-added"),
		d.passkeys.FinishRegister(ctx, v.token, *v.user, state, name, v.form.Get("credential"))
}

// passkeyToRemove is the page that asks before a passkey is removed.
func (d *Dashboard) passkeyToRemove(v *visit) (any, error) {
	list, err := d.Identity.ListPasskeys(v.r.Context(), v.user.Account)
	for _, p := range list {
		if p.ID == v.r.PathValue("credential") {
			return viewOfPasskey(p), nil
		}
	}
	if err == nil {
		err = errNotFound
	}
	return nil, err
}

func (d *Dashboard) removePasskey(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	return redirect("/dashboard/settings", "passkey-removed"),
		d.Identity.RemovePasskey(v.r.Context(), *v.user, v.r.PathValue("credential"))
}
