package identity

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

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
			{Name: "delete_links", Args: []any{account, now.UnixNano()}},
			{Name: "create_link", Args: []any{hashOf(token), account, now.Add(LinkLife).UnixNano()}},
		}
		return append(list, ledger.Audit(ctx, account, now, "link.create", "")...)
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
	err = i.store.Query(ctx, store.Statement{Name: "read_link", Args: []any{hashOf(token), now.UnixNano()},
		Scan: func(r store.Row) error { return r.Scan(&account) }})
	if err == nil && account == 0 {
		err = ErrLinkUsed
	}
	if err != nil {
		return User{}, err
	}
	return i.User(ctx, account)
}

// UseLink uses a link up and returns its user, or ErrLinkUsed.
func (i *Identity) UseLink(ctx context.Context, token string) (User, error) {
	now, err := i.now(ctx)
	if err != nil {
		return User{}, err
	}
	var account int64
	use := store.Statement{Name: "use_link", Args: []any{hashOf(token), now.UnixNano()},
		Scan: func(r store.Row) error { return r.Scan(&account) }}
	err = i.writeIf(ctx, ErrLinkUsed, use, func(now time.Time) []store.Statement {
		return []store.Statement{{Name: "delete_links", Args: []any{account, now.UnixNano()}}}
	})
	if err != nil {
		return User{}, err
	}
	return i.User(ctx, account)
}
