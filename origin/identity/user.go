package identity

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

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

	Created  time.Time // what was made in the account before is another's
	Unproven bool      // nothing shows that the email is the user's, who signed up
	From     Caller    // the browser that acts for the user; the caller sets it

	handle   string // of passkeys; another user of the account has another
	password string // its hash
	sealed   string // the authenticator app's secret as it is stored
	secret   string // the same, opened
	unopened error  // why it could not be opened
}

// User returns the user of an account, or ErrNoUser.
func (i *Identity) User(ctx context.Context, account int64) (u User, err error) {
	err = i.query(ctx, i.readUser(&u, account, ""))
	if err == nil && u.Account == 0 {
		err = ErrNoUser
	}
	return u, err
}

// userOf returns the user of the account that a query finds, or missing.
func (i *Identity) userOf(ctx context.Context, missing error, query string, args ...any) (User, error) {
	var account int64
	err := i.query(ctx, statement(query, args...), &account)
	if err == nil && account == 0 {
		err = missing
	}
	if err != nil {
		return User{}, err
	}
	return i.User(ctx, account)
}

// readUser reads the user of an account, or of its email, into u, which it leaves if there is none.
func (i *Identity) readUser(u *User, account int64, email string) store.Statement {
	s := statement("read_user", account, email)
	s.Scan = func(r store.Row) error {
		var created int64
		err := r.Scan(&u.Account, &u.Email, &u.Name, &u.password, &u.Operator, &u.sealed, &u.handle, &created,
			&u.Unproven, &u.Suspended, &u.Passkeys)
		u.HasPassword, u.TOTP, u.Created = u.password != "", u.sealed != "", timeOf(created)
		u.secret, u.unopened = i.sealer.Open(store.SecretOfTOTP, u.Account, u.sealed)
		return err
	}
	return s
}

// proof returns a hash of what a sign-in proves: the user, the password and the authenticator app.
// The app's secret counts as it is opened, because it is sealed again when the key changes.
func (u *User) proof() []byte {
	app := u.secret
	if u.unopened != nil {
		app = u.sealed
	}
	sum := sha256.Sum256([]byte(u.handle + "\x00" + u.password + "\x00" + app))
	return sum[:]
}

// DeviceToken returns a token for browsers in which the user has signed in, which spares
// the owner from sharing the limits of attempts with others (see guess). It proves no more
// than that. It ends when the password or the authenticator app changes, so anybody who had the
// password before there was an app has no token after. Nothing is stored.
func (u *User) DeviceToken() string {
	mac := hmac.New(sha256.New, u.proof())
	mac.Write([]byte("device"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// knows reports whether a browser has the user's DeviceToken.
func (u *User) knows(from Caller) bool {
	return u.handle != "" && hmac.Equal([]byte(from.Device), []byte(u.DeviceToken()))
}

func (u *User) endOthers() store.Statement {
	return statement("delete_sessions", u.Account, u.From.Session)
}

func accountName(account int64) string { return strconv.FormatInt(account, 10) }

// createUser gives an account its user, if it has none.
func createUser(account int64) store.Statement {
	return statement("create_user", account, newToken(), after(0))
}

// SetName changes how the dashboard addresses a user. The same name changes nothing.
func (i *Identity) SetName(ctx context.Context, account int64, name string) error {
	if err := checkName(name, maxName); err != nil {
		return err
	}
	return i.write(ctx, change{needs: statement("put_user_name", account, name), log: &line{account, "user.rename", ""}})
}

// The longest names in bytes.
const (
	maxName        = 100 // of a user
	maxPasskeyName = 64
)

// checkName refuses a name that is too long, or that a page or a terminal cannot show as it is.
func checkName(name string, longest int) error {
	for _, r := range name {
		if !unicode.IsGraphic(r) || r == utf8.RuneError {
			return &InputError{"name", "The name must not contain control characters."}
		}
	}
	if len(name) > longest {
		return &InputError{"name", fmt.Sprintf("The name is longer than %d bytes.", longest)}
	}
	return nil
}

// SetOperator gives or takes the right to manage all accounts. It creates the user if need be.
func (i *Identity) SetOperator(ctx context.Context, account int64, operator bool) error {
	action := map[bool]string{true: "user.operator", false: "user.no-operator"}[operator]
	if err := i.write(ctx, change{then: statements{createUser(account)}}); err != nil {
		return err
	}
	return i.write(ctx, change{needs: statement("put_operator", account, operator), log: &line{account, action, ""}})
}

// LinkLife is how long a one-time link may be used.
const LinkLife = 24 * time.Hour

// CreateLink returns the token of a link with which the user of an account signs in once, and may
// then set a password. It creates the user if need be. An account has one link: earlier ones end.
func (i *Identity) CreateLink(ctx context.Context, account int64) (token string, err error) {
	token = newToken()
	return token, i.write(ctx, change{log: &line{account, "link.create", ""}, then: statements{
		createUser(account),
		statement("delete_links", account, after(0)),
		statement("create_link", hashOf(token), account, after(LinkLife)),
	}})
}

// LinkUser returns the user whom a link would sign in, or ErrLinkUsed. It does not use the link up,
// because programs that preview links must not end them.
func (i *Identity) LinkUser(ctx context.Context, token string) (User, error) {
	now, err := i.ledger.Now(ctx)
	if err != nil {
		return User{}, err
	}
	return i.userOf(ctx, ErrLinkUsed, "read_link", hashOf(token), now.UnixNano())
}

// UseLink uses a link up and returns its user, or ErrLinkUsed. first is true if the link is the
// first proof that the email of an account that was signed up for is its user's. Somebody else may
// have signed up, so all that they have set up to sign in with has ended then. API keys and the
// webhook go on, since they may be in use; those made before the user's Created are to be shown.
func (i *Identity) UseLink(ctx context.Context, token string) (u User, first bool, err error) {
	u, err = i.LinkUser(ctx, token)
	if err != nil {
		return User{}, false, err
	}
	first = u.Unproven // as long as the link is valid, because an account's links end together
	use := change{as: &User{Account: u.Account}, missing: ErrLinkUsed,
		needs: statement("use_link", hashOf(token), after(0)),
		then:  statements{statement("delete_links", u.Account, after(0))}}
	if first {
		use.log = &line{u.Account, "user.prove", ""}
		use.then = append(use.then, statement("prove_user", u.Account, newToken(), after(0)))
		for _, of := range []string{"delete_recovery_codes", "delete_passkeys", "delete_identities"} {
			use.then = append(use.then, statement(of, u.Account))
		}
		use.then = append(use.then, statement("delete_sessions", u.Account, 0))
	}
	if err := i.write(ctx, use); err != nil {
		return User{}, false, err
	}
	u, err = i.User(ctx, u.Account)
	return u, first, err
}
