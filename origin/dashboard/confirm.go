package dashboard

import (
	"errors"

	"github.com/addrspec/addrspec/origin/identity"
)

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
	ctx, code := v.r.Context(), v.form.Get("code")
	var err error
	if code != "" {
		err = d.Identity.CheckCode(ctx, *v.user, code)
	} else {
		err = d.Identity.ConfirmPassword(ctx, *v.user, v.form.Get("password"))
	}
	if errors.Is(err, identity.ErrWrongPassword) {
		err = inputProblem("password", "The password is wrong.")
	}
	if err != nil {
		return nil, err
	}
	return redirect(v.returnTo(), "confirmed"), d.Identity.Confirm(ctx, *v.session)
}
