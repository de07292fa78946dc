package dashboard

import (
	"net/url"

	"github.com/addrspec/addrspec/origin/identity"
)

// codeView is the page that asks for the second factor.
type codeView struct {
	To       string `json:"to"`
	Passkeys bool   `json:"passkeys"` // a passkey may be used instead
}

// codePath returns the page that asks for the second factor, before the page to.
func codePath(to string) string { return errSecondFactor.location + "?to=" + url.QueryEscape(to) }

func (d *Dashboard) codePage(v *visit) (any, error) {
	if v.signedIn() {
		return redirect("/dashboard", ""), nil
	}
	return codeView{v.returnTo(), v.user.Passkeys > 0 && d.passkeys != nil}, nil
}

// giveCode completes a session by a code of the authenticator app or a recovery
// code. The session gets a new token.
func (d *Dashboard) giveCode(v *visit) (*outcome, error) {
	if v.signedIn() {
		return redirect("/dashboard", ""), nil
	}
	if err := d.Identity.CheckCode(v.r.Context(), *v.user, v.form.Get("code")); err != nil {
		return nil, err
	}
	return v.open(*v.user, v.returnTo(), true)
}

// open starts a session, in place of the one that the browser had.
func (v *visit) open(user identity.User, to string, complete bool) (*outcome, error) {
	token, err := v.Identity.SignIn(v.r.Context(), user.Account, v.cookie(sessionCookie), clientName(v.r.UserAgent()), complete)
	if err != nil {
		return nil, err
	}
	v.setCookie(sessionCookie, token, cookieLife)
	v.clearCookie(formCookie)
	v.token = token
	return redirect(to, ""), nil
}
