package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A Key lets a program in on behalf of an account. Only its holder knows its
// secret.
type Key struct {
	ID      int64
	Account int64
	Name    string
	Hint    string // the first characters of the secret
	Created time.Time
	Revoked time.Time // zero unless it was
	Expires time.Time // zero if it does not
	LastDay Day       // the last day it was used on, or 0
}

// KeyTerms narrow what a key may use of its account; the zero value narrows
// nothing.
type KeyTerms struct {
	Expires time.Time // from when on it is refused
	Budget  *Limit    // points a calendar month
	Rate    *Limit    // requests a second
}

func (t *KeyTerms) check() error {
	for name, limit := range map[string]*Limit{"budget": t.Budget, "rate": t.Rate} {
		if limit != nil && *limit == Unlimited {
			return fmt.Errorf("a key's %s is a number: leave it out for all that the account has", name)
		}
	}
	return errors.Join(checkOptional(t.Budget, checkPoints), checkOptional(t.Rate, checkRate))
}

// CreateKey makes a key and returns its secret, which cannot be shown again.
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

// ListKeys lists an account's keys, the revoked ones too, oldest first.
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

// RevokeKey shuts a key out for good, from the next request on, on every
// replica. To revoke it again changes nothing.
func (l *Ledger) RevokeKey(ctx context.Context, account, key int64) error {
	return l.change(ctx, ErrNoKey, func(now time.Time) store.Statement {
		return store.Statement{Name: "revoke_key", Args: []any{account, key, now.UnixNano()}}
	})
}

// timeOf is the zero time for 0.
func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}
