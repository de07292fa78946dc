package dashboard

import (
	"errors"

	"github.com/addrspec/addrspec/origin/identity"
)

// signInView is the page where people sign in.
type signInView struct {
	To       string `json:"to"` // the page that follows
	Passkeys bool   `json:"passkeys"`
	OpenID   string `json:"openid,omitempty"` // the provider's name
}

func (d *Dashboard) signInPage(v *visit) (any, error) {
	view := signInView{To: v.returnTo(), Passkeys: d.passkeys != nil}
	if d.OpenID != nil {
		view.OpenID = d.OpenID.Name
	}
	return view, nil
}

// signIn checks email and password. Attempts are counted before the password is
// looked at, at the account that was named, whether it exists or not.
func (d *Dashboard) signIn(v *visit) (*outcome, error) {
	ctx, email := v.r.Context(), normalEmail(v.form.Get("email"))
	if err := d.Identity.Attempt(ctx, identity.PasswordsOfAddress, d.callerAddress(v.r)); err != nil {
		return nil, err
	}
	if err := d.Identity.Attempt(ctx, identity.PasswordsOfAccount, email); err != nil {
		return nil, err
	}
	user, err := d.Identity.CheckPassword(ctx, email, v.form.Get("password"))
	if err != nil {
		return nil, err
	}
	return v.start(user, v.returnTo())
}

// start signs a user in who has proved who they are by one factor.
func (v *visit) start(user identity.User, to string) (*outcome, error) {
	if user.SecondFactor() {
		return v.open(user, codePath(to), false)
	}
	return v.open(user, to, true)
}

// signOut ends the session, on every replica.
func (d *Dashboard) signOut(v *visit) (*outcome, error) {
	if v.session != nil {
		err := d.Identity.EndSession(v.r.Context(), v.session.Account, v.session.ID)
		if err != nil && !errors.Is(err, identity.ErrNoSession) {
			return nil, err
		}
	}
	v.clearCookie(sessionCookie)
	return redirect("/sign-in", "signed-out"), nil
}

// linkView is the page of a one-time link. It asks before it uses the link up,
// because programs that show previews open links.
type linkView struct {
	Email string `json:"email"`
}

func (d *Dashboard) linkPage(v *visit) (any, error) {
	if err := d.Identity.Attempt(v.r.Context(), identity.LinksOfAddress, d.callerAddress(v.r)); err != nil {
		return nil, err
	}
	user, err := d.Identity.LinkUser(v.r.Context(), v.r.PathValue("token"))
	return linkView{user.Email}, err
}

func (d *Dashboard) useLink(v *visit) (*outcome, error) {
	if err := d.Identity.Attempt(v.r.Context(), identity.LinksOfAddress, d.callerAddress(v.r)); err != nil {
		return nil, err
	}
	user, err := d.Identity.UseLink(v.r.Context(), v.r.PathValue("token"))
	if err != nil {
		return nil, err
	}
	return v.start(user, "/dashboard/settings/password")
}
