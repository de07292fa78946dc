package person

import (
	"errors"

	"github.com/addrspec/addrspec/origin/dashboard/page"
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
