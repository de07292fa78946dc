package person

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/identity"
)

func setName(v *page.Visit) (*page.Outcome, error) {
	name := strings.TrimSpace(v.Form.Get("name"))
	return page.Redirect("/dashboard/settings", "name-set"), v.Identity.SetName(v.Context(), v.User.Account, name)
}

// endSessions ends one session, or without its ID all others.
func endSessions(v *page.Visit) (*page.Outcome, error) {
	text := v.Form.Get("session")
	if text == "" {
		done := page.Redirect("/dashboard/settings", "sessions-ended")
		return done, v.Identity.EndSessions(v.Context(), v.User.Account, v.Session.ID)
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, identity.ErrNoSession
	}
	return page.Redirect("/dashboard/settings", "session-ended"), v.Identity.EndSession(v.Context(), v.User.Account, id)
}

// SettingsView is the page Settings.
type SettingsView struct {
	Email       string             `json:"email"`
	Name        string             `json:"name"`
	HasPassword bool               `json:"has_password"`
	TOTP        bool               `json:"totp"`
	Recovery    int                `json:"recovery_codes"` // how many are left
	Passkeys    []identity.Passkey `json:"passkeys"`
	NoPasskeys  string             `json:"no_passkeys,omitempty"` // why there can be none
	OpenID      string             `json:"openid,omitempty"`      // the provider's name
	Identities  []identity.Linked  `json:"identities"`
	Sessions    []sessionView      `json:"sessions"`
}

type sessionView struct {
	ID      int64     `json:"id"`
	Client  string    `json:"client"`
	Created time.Time `json:"created"`
	Seen    time.Time `json:"last_used"`
	Current bool      `json:"current"`
}

func settings(v *page.Visit) (any, error) {
	ctx, account := v.Context(), v.User.Account
	view := &SettingsView{Email: v.User.Email, Name: v.User.Name, HasPassword: v.User.HasPassword, TOTP: v.User.TOTP,
		NoPasskeys: noPasskeys(v.Server)}
	if v.OpenID != nil {
		view.OpenID = v.OpenID.Name
	}
	sessions, err := v.Identity.Sessions(ctx, account)
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		view.Sessions = append(view.Sessions, sessionView{s.ID, s.Client, s.Created, s.Seen, s.ID == v.Session.ID})
	}
	passkeys, err := v.Identity.ListPasskeys(ctx, account)
	if err != nil {
		return nil, err
	}
	view.Passkeys = append([]identity.Passkey{}, passkeys...)
	linked, err := v.Identity.ListLinked(ctx, account)
	if err != nil {
		return nil, err
	}
	view.Identities = append([]identity.Linked{}, linked...)
	view.Recovery, err = v.Identity.RecoveryCodesLeft(ctx, account)
	return view, err
}

// setPassword sets a password. A session that began with a one-time link is fresh,
// so it need not know the old password.
func setPassword(v *page.Visit) (*page.Outcome, error) {
	password := v.Form.Get("password")
	if again, given := v.Form["again"]; given && again[0] != password {
		return nil, page.InputProblem("again", "The two passwords differ.")
	}
	if err := v.Identity.SetPassword(v.Context(), *v.User, password); err != nil {
		return nil, err
	}
	rememberAgain(v)
	return page.Redirect("/dashboard", "password-set"), nil
}

type deleteView struct {
	Email string `json:"email"`
}

// deleteAccount deletes the account, once its email is repeated. It goes on if the
// browser leaves: the session is among the first rows that go, so nobody could ask
// for the rest.
func deleteAccount(v *page.Visit) (*page.Outcome, error) {
	if normalEmail(v.Form.Get("email")) != v.User.Email {
		return nil, page.InputProblem("email", "This is not the email of the account.")
	}
	if err := v.Ledger.DeleteAccount(context.WithoutCancel(v.Context()), v.User.Account); err != nil {
		return nil, err
	}
	v.ClearCookie(page.SessionCookie)
	return page.Redirect("/sign-in", "account-deleted"), nil
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

func confirmPage(v *page.Visit) (any, error) {
	view := confirmView{To: v.ReturnTo(), Password: v.User.HasPassword, Code: v.User.TOTP,
		Passkeys: v.User.Passkeys > 0 && v.Passkeys != nil}
	if v.OpenID == nil {
		return view, nil
	}
	linked, err := v.Identity.ListLinked(v.Context(), v.User.Account)
	for _, l := range linked {
		if l.Issuer == v.OpenID.Issuer {
			view.OpenID = v.OpenID.Name
		}
	}
	return view, err
}

// confirm checks the password or a code again before a change of how the user
// signs in. One factor suffices: the session has had both.
func confirm(v *page.Visit) (*page.Outcome, error) {
	ctx, code := v.Context(), v.Form.Get("code")
	var err error
	if code != "" {
		err = v.Identity.CheckCode(ctx, *v.User, code)
	} else {
		err = v.Identity.ConfirmPassword(ctx, *v.User, v.Form.Get("password"))
	}
	if errors.Is(err, identity.ErrWrongPassword) {
		err = page.InputProblem("password", "The password is wrong.")
	}
	if err != nil {
		return nil, err
	}
	return page.Redirect(v.ReturnTo(), "confirmed"), v.Identity.Confirm(ctx, *v.Session)
}
