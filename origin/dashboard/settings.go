package dashboard

import (
	"context"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
)

func normalEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// personRoutes has the pages with which people sign in, and those of their settings.
func (d *Dashboard) personRoutes() map[string]route {
	setName := func(v *visit) (*outcome, error) {
		name := strings.TrimSpace(v.form.Get("name"))
		return redirect("/dashboard/settings", "name-set"), v.Identity.SetName(v.r.Context(), v.user.Account, name)
	}
	endSessions := func(v *visit) (*outcome, error) { // one session, or without its ID all others
		text, ctx := v.form.Get("session"), v.r.Context()
		if text == "" {
			done := redirect("/dashboard/settings", "sessions-ended")
			return done, v.Identity.EndSessions(ctx, v.user.Account, v.session.ID)
		}
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, identity.ErrNoSession
		}
		return redirect("/dashboard/settings", "session-ended"), v.Identity.EndSession(ctx, v.user.Account, id)
	}
	deletePage := func(v *visit) (any, error) { return deleteView{v.user.Email}, v.confirmed() }
	list := map[string]route{
		"/sign-in":      offline("Sign in", "sign-in", d.signInPage, d.signIn),
		"/sign-out":     offline("Sign out", "sign-out", nothing, d.signOut),
		"/link/{token}": public("Sign in", "link", d.linkPage, d.useLink),
		"/confirm":      signedIn("Confirm that it is you", "confirm", d.confirmPage, d.confirm),

		"/dashboard/settings":          signedIn("Settings", "settings", d.settings, nil),
		"/dashboard/settings/password": signedIn("Set a password", "password", nothing, d.setPassword),
		"/dashboard/settings/name":     signedIn("Your name", "settings", d.settings, setName),
		"/dashboard/settings/sessions": signedIn("Sessions", "settings", d.settings, endSessions),
		"/dashboard/settings/delete":   signedIn("Delete the account", "delete", deletePage, d.deleteAccount),
	}
	maps.Copy(list, d.factorRoutes())
	return list
}

// settingsView is the page Settings.
type settingsView struct {
	Email       string        `json:"email"`
	Name        string        `json:"name"`
	HasPassword bool          `json:"has_password"`
	TOTP        bool          `json:"totp"`
	Recovery    int           `json:"recovery_codes"` // how many are left
	Passkeys    []passkeyItem `json:"passkeys"`
	NoPasskeys  string        `json:"no_passkeys,omitempty"` // why there can be none
	OpenID      string        `json:"openid,omitempty"`      // the provider's name
	Identities  []linkedItem  `json:"identities"`
	Sessions    []sessionView `json:"sessions"`
}

type sessionView struct {
	ID      int64     `json:"id"`
	Client  string    `json:"client"`
	Created time.Time `json:"created"`
	Seen    time.Time `json:"last_used"`
	Current bool      `json:"current"`
}

// A passkeyItem is a passkey in the list.
type passkeyItem struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"last_used,omitzero"`
}

func viewOfPasskey(p identity.Passkey) passkeyItem {
	return passkeyItem{p.ID, p.Name, p.Created, p.Used}
}

// A linkedItem is a linked identity in the list.
type linkedItem struct {
	Issuer  string    `json:"issuer"`
	Subject string    `json:"subject"`
	Created time.Time `json:"created"`
}

func (d *Dashboard) settings(v *visit) (any, error) {
	ctx, account := v.r.Context(), v.user.Account
	view := &settingsView{Email: v.user.Email, Name: v.user.Name, HasPassword: v.user.HasPassword, TOTP: v.user.TOTP,
		NoPasskeys: d.noPasskeys(), Passkeys: []passkeyItem{}, Identities: []linkedItem{}, Sessions: []sessionView{}}
	if d.OpenID != nil {
		view.OpenID = d.OpenID.Name
	}
	sessions, err := d.Identity.Sessions(ctx, account)
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		view.Sessions = append(view.Sessions, sessionView{s.ID, s.Client, s.Created, s.Seen, s.ID == v.session.ID})
	}
	passkeys, err := d.Identity.ListPasskeys(ctx, account)
	if err != nil {
		return nil, err
	}
	for _, p := range passkeys {
		view.Passkeys = append(view.Passkeys, viewOfPasskey(p))
	}
	linked, err := d.Identity.ListLinked(ctx, account)
	if err != nil {
		return nil, err
	}
	for _, l := range linked {
		view.Identities = append(view.Identities, linkedItem(l))
	}
	view.Recovery, err = d.Identity.RecoveryCodesLeft(ctx, account)
	return view, err
}

// setPassword sets a password. A session that began with a one-time link is fresh,
// so it need not know the old password.
func (d *Dashboard) setPassword(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	password := v.form.Get("password")
	if again, given := v.form["again"]; given && again[0] != password {
		return nil, inputProblem("again", "The two passwords differ.")
	}
	if err := d.Identity.SetPassword(v.r.Context(), *v.user, password); err != nil {
		return nil, err
	}
	v.rememberAgain()
	return redirect("/dashboard", "password-set"), nil
}

// deleteView is the page that asks before the account is deleted.
type deleteView struct {
	Email string `json:"email"`
}

// deleteAccount deletes the account, once its email is repeated. It goes on if the
// browser leaves: the session is among the first rows that go, so nobody could ask
// for the rest.
func (d *Dashboard) deleteAccount(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	if normalEmail(v.form.Get("email")) != v.user.Email {
		return nil, inputProblem("email", "This is not the email of the account.")
	}
	if err := d.Ledger.DeleteAccount(context.WithoutCancel(v.r.Context()), v.user.Account); err != nil {
		return nil, err
	}
	v.clearCookie(sessionCookie)
	return redirect("/sign-in", "account-deleted"), nil
}
