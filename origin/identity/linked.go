package identity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// maxLinked is how many identities at OpenID providers a user may link.
const maxLinked = 5

// Errors of linked identities.
var (
	ErrNoLinked   = errors.New("there is no such linked identity")
	ErrMoreLinked = fmt.Errorf("the identity is linked already, here or to another account, or there are %d: unlink one first", maxLinked)
)

// A Linked is a person at an OpenID provider who may sign in as a user. Issuer and
// subject identify them for ever (OpenID Connect Core section 5.7); an email does
// not, so none is looked at.
type Linked struct {
	Issuer, Subject string
	Created         time.Time
}

// LinkedUser returns the user to whom an identity is linked, or ErrNoLinked.
func (i *Identity) LinkedUser(ctx context.Context, issuer, subject string) (User, error) {
	var account int64
	err := i.store.Query(ctx, store.Statement{Name: "read_identity", Args: []any{issuer, subject}, Scan: func(r store.Row) error { return r.Scan(&account) }})
	if err == nil && account == 0 {
		err = ErrNoLinked
	}
	if err != nil {
		return User{}, err
	}
	return i.User(ctx, account)
}

// ListLinked returns the identities that are linked to a user.
func (i *Identity) ListLinked(ctx context.Context, account int64) ([]Linked, error) {
	var list []Linked
	err := i.store.Query(ctx, store.Statement{Name: "list_identities", Args: []any{account}, Scan: func(r store.Row) error {
		var l Linked
		var created int64
		err := r.Scan(&l.Issuer, &l.Subject, &created)
		l.Created = timeOf(created)
		list = append(list, l)
		return err
	}})
	return list, err
}

// Link links an identity to a user. It returns ErrMoreLinked if it is linked
// already, or the user has maxLinked or was replaced (see UseLink).
func (i *Identity) Link(ctx context.Context, u User, issuer, subject string) error {
	now, err := i.now(ctx)
	if err != nil {
		return err
	}
	create := store.Statement{Name: "create_identity", Args: []any{issuer, subject, u.Account, now.UnixNano(), maxLinked, u.handle}}
	return i.writeIf(ctx, ErrMoreLinked, create, func(now time.Time) []store.Statement {
		return book.Audit(ctx, u.Account, now, "identity.link", issuer)
	}, store.Statement{Name: "lock_user", Args: []any{u.Account}})
}

// Unlink ends the link of an identity to a user. It returns ErrNoLinked if there is
// none.
func (i *Identity) Unlink(ctx context.Context, account int64, issuer, subject string) error {
	remove := store.Statement{Name: "delete_identity", Args: []any{account, issuer, subject}}
	return i.writeIf(ctx, ErrNoLinked, remove, func(now time.Time) []store.Statement {
		return book.Audit(ctx, account, now, "identity.unlink", issuer)
	})
}

// A Detour is a visit to an OpenID provider, from which the browser returns with
// its state.
type Detour struct {
	Purpose  string    `json:"purpose"` // such as "sign in"
	To       string    `json:"to"`      // the page that follows
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"` // of PKCE
	Began    time.Time `json:"began"`
}

// BeginDetour stores a detour and returns its state.
func (i *Identity) BeginDetour(ctx context.Context, browser string, d Detour) (state string, err error) {
	if d.Began, err = i.now(ctx); err != nil {
		return "", err
	}
	return i.begin(ctx, ceremony{"openid", browser}, d)
}

// FinishDetour returns the detour of a state, once.
func (i *Identity) FinishDetour(ctx context.Context, browser, state string) (d Detour, err error) {
	err = i.finish(ctx, ceremony{"openid", browser}, state, &d)
	return d, err
}
