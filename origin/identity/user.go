package identity

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"github.com/addrspec/addrspec/origin/ledger/book"
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

	// Created is when the user came to the account; what was made there before is
	// another's.
	Created time.Time
	// Unproven is true after a sign-up: nothing shows that the email is the user's.
	Unproven bool
	// Device is the token of the browser that acts for the user; see NewDevice.
	Device string

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
	u, found, created := User{}, false, int64(0)
	err := i.store.Query(ctx, store.Statement{Name: "read_user", Args: []any{account, email}, Scan: func(r store.Row) error {
		found = true
		return r.Scan(&u.Account, &u.Email, &u.Name, &u.password, &u.Operator, &u.totp, &u.totpStep, &u.handle, &created, &u.Unproven, &u.Suspended, &u.Passkeys)
	}})
	if err == nil && !found {
		err = ErrNoUser
	}
	u.HasPassword, u.TOTP, u.Created = u.password != "", u.totp != "", timeOf(created)
	return u, err
}

// NewDevice returns a token that marks a browser in which the user has signed in. It
// proves no more than that, and spares the owner from sharing the limits of attempts
// with others. It ends when the password changes, since its tag is a hash under the
// password's hash and the handle, which only the database has: nothing is stored.
func (u *User) NewDevice() string {
	name := rand.Text()
	return name + "." + u.deviceTag(name)
}

func (u *User) deviceTag(name string) string {
	mac := hmac.New(sha256.New, []byte("device of\x00"+u.handle+"\x00"+u.password))
	mac.Write([]byte(name))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// KnownDevice returns what distinguishes the device of a token from others of the user,
// or "" if the token is not of NewDevice.
func (u *User) KnownDevice(token string) string {
	name, tag, _ := strings.Cut(token, ".")
	if u.handle == "" || !hmac.Equal([]byte(tag), []byte(u.deviceTag(name))) {
		return ""
	}
	return accountName(u.Account) + "\x00" + name
}

// deviceOf returns the KnownDevice of the user with an email, "" without a user.
func (i *Identity) deviceOf(ctx context.Context, email, token string) (string, error) {
	if token == "" {
		return "", nil
	}
	u, err := i.user(ctx, 0, email)
	if errors.Is(err, ErrNoUser) {
		return "", nil
	}
	return u.KnownDevice(token), err
}

// createUser returns the statement that gives an account its user, if it has none.
func createUser(account int64, now time.Time) store.Statement {
	return store.Statement{Name: "create_user", Args: []any{account, newToken(), now.UnixNano()}}
}

// maxName is the longest name of a user in bytes.
const maxName = 100

// SetName changes how the dashboard addresses a user. The same name changes nothing.
func (i *Identity) SetName(ctx context.Context, account int64, name string) error {
	if err := checkName("name", name, maxName); err != nil {
		return err
	}
	put := store.Statement{Name: "put_user_name", Args: []any{account, name}}
	return i.writeIf(ctx, nil, put, func(now time.Time) []store.Statement {
		return book.Audit(ctx, account, now, "user.rename", "")
	})
}

// CheckUser returns an *InputError if no user can have the name, or a password with the
// hash: "" for none. A hash must be no dearer than this program's own, because a sign-in
// computes it.
func CheckUser(name, hash string) error {
	if err := checkName("name", name, maxName); err != nil || hash == "" {
		return err
	}
	p, _, _, err := argon2id.DecodeHash(hash)
	if err != nil || p.Memory > hashing.Memory || p.Iterations > hashing.Iterations || p.Parallelism != hashing.Parallelism {
		return &InputError{"password", "The password's hash is not one of Argon2id with the cost that this program uses."}
	}
	return nil
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
// user that gets it if there is none yet.
func (i *Identity) SetOperator(ctx context.Context, account int64, operator bool) error {
	now, err := i.now(ctx)
	if err != nil {
		return err
	}
	action := "user.operator"
	if !operator {
		action = "user.no-operator"
	}
	put := store.Statement{Name: "put_operator", Args: []any{account, operator}}
	return i.writeIf(ctx, nil, put, func(now time.Time) []store.Statement {
		return book.Audit(ctx, account, now, action, "")
	}, createUser(account, now))
}

// An InputError is a value that cannot be used, with a sentence that says why.
type InputError struct{ Field, Sentence string }

func (e *InputError) Error() string { return e.Sentence }

// SignUp creates an account on the default plan with a user who has a password.
// It returns ledger.ErrAccountExists if there is an account with the email. It
// proves nothing about the email, so the first link ends what this user sets up (see
// UseLink). The caller limits attempts.
func (i *Identity) SignUp(ctx context.Context, email, password string) (User, error) {
	if err := CheckSignUp(email, password); err != nil {
		return User{}, err
	}
	hash, err := i.hasher.hash(ctx, password)
	if err != nil {
		return User{}, err
	}
	a, err := i.ledger.CreateAccount(ctx, email, book.Terms{}, func(account int64, _ time.Time) []store.Statement {
		return []store.Statement{{Name: "sign_up_user", Args: []any{account, newToken()}}, {Name: "put_password", Args: []any{account, hash}}}
	})
	if err != nil {
		return User{}, err
	}
	return i.User(ctx, a.ID)
}

// CheckSignUp returns an *InputError if an account cannot have this email or
// password.
func CheckSignUp(email, password string) error {
	if err := book.CheckEmail(email); err != nil {
		return &InputError{"email", "The email needs an @, at most 254 bytes and no spaces or control characters."}
	}
	return checkPassword(password, email)
}

// LinkLife is how long a one-time link may be used.
const LinkLife = 24 * time.Hour

// CreateLink returns the token of a link with which the user of an account signs
// in once, and may then set a password. It creates the user if there is none yet.
// An account has one link: earlier ones end.
func (i *Identity) CreateLink(ctx context.Context, account int64) (token string, err error) {
	token = newToken()
	err = i.write(ctx, func(now time.Time) []store.Statement {
		list := []store.Statement{
			createUser(account, now),
			{Name: "delete_links", Args: []any{account, now.UnixNano(), latest(now, LinkLife)}},
			{Name: "create_link", Args: []any{hashOf(token), account, now.Add(LinkLife).UnixNano()}},
		}
		return append(list, book.Audit(ctx, account, now, "link.create", "")...)
	})
	return token, err
}

// LinkUser returns the user whom a link would sign in, or ErrLinkUsed. It does
// not use the link up: programs that preview links must not end them.
func (i *Identity) LinkUser(ctx context.Context, token string) (User, error) {
	now, err := i.now(ctx)
	if err != nil {
		return User{}, err
	}
	var account int64
	err = i.store.Query(ctx, store.Statement{Name: "read_link", Args: []any{hashOf(token), now.UnixNano(), latest(now, LinkLife)},
		Scan: func(r store.Row) error { return r.Scan(&account) }})
	if err == nil && account == 0 {
		err = ErrLinkUsed
	}
	if err != nil {
		return User{}, err
	}
	return i.User(ctx, account)
}

// UseLink uses a link up and returns its user, or ErrLinkUsed. first is true if the
// link is the first proof that the email of an account that was signed up for is its
// user's. Somebody else may have signed up, so all that they have set up to sign in with
// has ended then. API keys and the webhook go on, since they may be in use; those made
// before the user's Created are to be shown.
func (i *Identity) UseLink(ctx context.Context, token string) (u User, first bool, err error) {
	now, err := i.now(ctx)
	if err != nil {
		return User{}, false, err
	}
	if u, err = i.LinkUser(ctx, token); err != nil { // links of an account end together, so whether it is proved does not change
		return User{}, false, err
	}
	use := store.Statement{Name: "use_link", Args: []any{hashOf(token), now.UnixNano(), latest(now, LinkLife)}}
	err = i.writeIf(ctx, ErrLinkUsed, use, func(now time.Time) []store.Statement {
		list := []store.Statement{{Name: "delete_links", Args: []any{u.Account, now.UnixNano(), latest(now, LinkLife)}}}
		if u.Unproven {
			list = append(list, prove(ctx, u.Account, now)...)
		}
		return list
	}, store.Statement{Name: "lock_user", Args: []any{u.Account}}) // first, as SetPassword does, or the two could wait for each other
	if err != nil {
		return User{}, false, err
	}
	first = u.Unproven
	u, err = i.User(ctx, u.Account)
	return u, first, err
}

// prove returns the statements that replace the user of an account, whose row is locked,
// so that nothing is added meanwhile.
func prove(ctx context.Context, account int64, now time.Time) []store.Statement {
	list := []store.Statement{
		{Name: "prove_user", Args: []any{account, newToken(), now.UnixNano()}},
		{Name: "delete_recovery_codes", Args: []any{account}},
		{Name: "delete_passkeys", Args: []any{account}},
		{Name: "delete_identities", Args: []any{account}},
		{Name: "delete_sessions", Args: []any{account, 0}},
	}
	return append(list, book.Audit(ctx, account, now, "user.prove", "")...)
}
