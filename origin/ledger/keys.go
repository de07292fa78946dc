package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A Key authenticates requests of an account. Its secret is not stored.
type Key struct {
	ID      int64
	Account int64
	Name    string
	Hint    string // the first characters of the secret
	Created time.Time
	Revoked time.Time // zero if it is not revoked
	Expires time.Time // zero if it does not expire
	LastDay Day       // the last day with a request, or 0
}

// KeyTerms are limits of a key within those of its account. The zero value sets
// none.
type KeyTerms struct {
	Expires time.Time // from then on the key is refused
	Budget  *Limit    // points a calendar month
	Rate    *Limit    // requests a second
}

func (t *KeyTerms) check() error {
	for name, limit := range map[string]*Limit{"budget": t.Budget, "rate": t.Rate} {
		if limit != nil && *limit == Unlimited {
			return fmt.Errorf("a key's %s must be a number; leave it out to use the account's", name)
		}
	}
	return errors.Join(checkOptional(t.Budget, checkPoints), checkOptional(t.Rate, checkRate))
}

// CreateKey creates a key and returns it with its secret, which cannot be read
// again. It returns ErrNoAccount if there is no such account.
func (l *Ledger) CreateKey(ctx context.Context, account int64, name string, t KeyTerms) (secret string, k Key, err error) {
	if err := errors.Join(checkName("a key", name), t.check()); err != nil {
		return "", Key{}, err
	}
	secret = NewSecret()
	k = Key{Account: account, Name: name, Hint: hint(secret), Created: l.clock.now().UTC(), Expires: t.Expires}
	expires := any(nil)
	if !t.Expires.IsZero() {
		expires = t.Expires.UnixNano()
	}
	create := store.Statement{Name: "create_key",
		Args: []any{account, name, k.Hint, k.Created.UnixNano(), expires, t.Budget.orNull(), t.Rate.orNull()},
		Scan: func(r store.Row) error { return r.Scan(&k.ID) }}
	err = l.transact(ctx, func() []store.Statement { return []store.Statement{create} }, func(time.Time) ([]store.Statement, error) {
		if k.ID == 0 {
			return nil, ErrNoAccount
		}
		return []store.Statement{{Name: "create_secret", Args: []any{digestOf(secret).hex(), k.ID}}}, nil
	})
	if err != nil {
		return "", Key{}, err
	}
	return secret, k, nil
}

// ListKeys returns an account's keys, including revoked ones, oldest first.
func (l *Ledger) ListKeys(ctx context.Context, account int64) ([]Key, error) {
	var list []Key
	err := l.query(ctx, store.Statement{Name: "list_keys", Args: []any{account}, Scan: func(r store.Row) error {
		var k Key
		var created, revoked, expires int64
		err := r.Scan(&k.ID, &k.Account, &k.Name, &k.Hint, &created, &revoked, &expires, &k.LastDay)
		k.Created, k.Revoked, k.Expires = timeOf(created), timeOf(revoked), timeOf(expires)
		list = append(list, k)
		return err
	}})
	return list, err
}

// RevokeKey revokes a key on every replica, from the next request on. Revoking it
// again changes nothing. It returns ErrNoKey if the account has no such key.
func (l *Ledger) RevokeKey(ctx context.Context, account, key int64) error {
	return l.change(ctx, ErrNoKey, func(now time.Time) store.Statement {
		return store.Statement{Name: "revoke_key", Args: []any{account, key, now.UnixNano()}}
	})
}

// timeOf converts a Unix time in nanoseconds; 0 becomes the zero time.
func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}
