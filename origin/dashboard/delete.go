package dashboard

import (
	"context"
)

// deleteView is the page that asks before the account is deleted.
type deleteView struct {
	Email string `json:"email"`
}

func (d *Dashboard) deletePage(v *visit) (any, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	return deleteView{v.user.Email}, nil
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
