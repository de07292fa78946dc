package identity

import (
	"context"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A User is the person who signs in to an account.
type User struct {
	Account     int64
	Email       string // the account's
	Name        string // how the dashboard addresses them; may be empty
	HasPassword bool
	Operator    bool // may manage all accounts
	TOTP        bool // has an authenticator app
	Passkeys    int
	Suspended   bool // the account is

	password string
	totp     string
	totpStep int64
	handle   string
}

// SecondFactor reports whether a password alone does not suffice.
func (u *User) SecondFactor() bool { return u.TOTP }

// User returns the user of an account, or ErrNoUser.
func (i *Identity) User(ctx context.Context, account int64) (User, error) {
	return i.user(ctx, account, "")
}

func (i *Identity) user(ctx context.Context, account int64, email string) (User, error) {
	u, found := User{}, false
	err := i.store.Query(ctx, store.Statement{Name: "read_user", Args: []any{account, email}, Scan: func(r store.Row) error {
		found = true
		return r.Scan(&u.Account, &u.Email, &u.Name, &u.password, &u.Operator, &u.totp, &u.totpStep, &u.handle, &u.Suspended, &u.Passkeys)
	}})
	if err == nil && !found {
		err = ErrNoUser
	}
	u.HasPassword, u.TOTP = u.password != "", u.totp != ""
	return u, err
}

// createUser returns the statement that gives an account its user, if it has none.
func createUser(account int64, now time.Time) store.Statement {
	return store.Statement{Name: "create_user", Args: []any{account, newToken(), now.UnixNano()}}
}

// maxName is the longest name of a user in bytes.
const maxName = 100

// SetName changes how the dashboard addresses a user.
func (i *Identity) SetName(ctx context.Context, account int64, name string) error {
	if err := checkName("name", name, maxName); err != nil {
		return err
	}
	return i.write(ctx, func(now time.Time) []store.Statement {
		return append(ledger.Audit(ctx, account, now, "user.rename", ""),
			store.Statement{Name: "put_user_name", Args: []any{account, name}})
	})
}

// checkName refuses a name that is too long, or that a page or a terminal cannot
// show as it is.
func checkName(field, name string, longest int) error {
	for _, r := range name {
		if !unicode.IsGraphic(r) || r == utf8.RuneError {
			return &InputError{field, "The name must not contain control characters."}
		}
	}
	if len(name) > longest {
		return &InputError{field, fmt.Sprintf("The name is longer than %d bytes.", longest)}
	}
	return nil
}

// SetOperator gives or takes the right to manage all accounts. It creates the
// user if there is none yet.
func (i *Identity) SetOperator(ctx context.Context, account int64, operator bool) error {
	return i.write(ctx, func(now time.Time) []store.Statement {
		action := "user.operator"
		if !operator {
			action = "user.no-operator"
		}
		return append([]store.Statement{createUser(account, now), {Name: "put_operator", Args: []any{account, operator}}},
			ledger.Audit(ctx, account, now, action, "")...)
	})
}

// An InputError is a value that cannot be used, with a sentence that says why.
type InputError struct{ Field, Sentence string }

func (e *InputError) Error() string { return e.Sentence }
