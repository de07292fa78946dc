package identity

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// SignUp creates an account on the default plan with a user who has a password.
// It returns ledger.ErrAccountExists if there is an account with the email. It
// proves nothing about the email. The caller limits attempts.
func (i *Identity) SignUp(ctx context.Context, email, password string) (User, error) {
	if err := CheckSignUp(email, password); err != nil {
		return User{}, err
	}
	hash, err := i.hasher.hash(ctx, password)
	if err != nil {
		return User{}, err
	}
	a, err := i.ledger.CreateAccount(ctx, email, ledger.Terms{}, func(account int64, now time.Time) []store.Statement {
		return []store.Statement{createUser(account, now), {Name: "put_password", Args: []any{account, hash}}}
	})
	if err != nil {
		return User{}, err
	}
	return i.User(ctx, a.ID)
}

// CheckSignUp returns an *InputError if an account cannot have this email or
// password.
func CheckSignUp(email, password string) error {
	if err := ledger.CheckEmail(email); err != nil {
		return &InputError{"email", "The email needs an @, at most 254 bytes and no spaces or control characters."}
	}
	return checkPassword(password, email)
}
