package dashboard

import (
	"strconv"

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
	ctx := v.r.Context()
	if code := v.form.Get("code"); code != "" {
		if err := d.Identity.CheckCode(ctx, *v.user, code); err != nil {
			return nil, err
		}
	} else {
		session := strconv.FormatInt(v.session.ID, 10)
		if err := d.Identity.Attempt(ctx, identity.ConfirmationsOfSession, session); err != nil {
			return nil, err
		}
		if _, err := d.Identity.CheckPassword(ctx, v.user.Email, v.form.Get("password")); err != nil {
			return nil, inputProblem("password", "The password is wrong.")
		}
	}
	return redirect(v.returnTo(), "confirmed"), d.Identity.Confirm(ctx, *v.session)
}
