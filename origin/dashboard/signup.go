package dashboard

import (
	"errors"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
)

// signUpView is the page where anybody creates an account.
type signUpView struct {
	Plan string `json:"plan"`
}

func (d *Dashboard) signUpPage(*visit) (any, error) { return signUpView{ledger.DefaultPlan}, nil }

// signUp creates an account and signs in. It is bounded by address and day, counted
// after the fields are checked, so that a slip costs nothing.
//
// It says so if the email has an account. Nothing else would help: the service
// sends no mail, and who succeeds is signed in, so success and failure differ
// anyway. The bounds leave three guesses at emails per address and eight hours.
func (d *Dashboard) signUp(v *visit) (*outcome, error) {
	email, password := normalEmail(v.form.Get("email")), v.form.Get("password")
	if again, given := v.form["again"]; given && again[0] != password {
		return nil, inputProblem("again", "The two passwords differ.")
	}
	if err := identity.CheckSignUp(email, password); err != nil {
		return nil, err
	}
	if err := d.countSignUp(v); err != nil {
		return nil, err
	}
	user, err := d.Identity.SignUp(v.r.Context(), email, password)
	if errors.Is(err, ledger.ErrAccountExists) {
		return nil, inputProblem("email", "There is an account with this email already. Sign in, or ask the operator for a one-time link.")
	}
	if err != nil {
		return nil, err
	}
	return v.open(user, "/dashboard", true)
}

func (d *Dashboard) countSignUp(v *visit) error {
	if err := d.Identity.Attempt(v.r.Context(), identity.SignUpsOfAddress, d.callerAddress(v.r)); err != nil {
		return err
	}
	return d.Identity.Attempt(v.r.Context(), identity.SignUpsOfDay, "")
}
