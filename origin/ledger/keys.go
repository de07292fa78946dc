package ledger

import (
	"context"
	"time"
)

// A Key lets a program in on behalf of an account. Its secret is known to
// nobody but its holder.
type Key struct {
	ID      int64
	Account int64
	Name    string
	Hint    string // the first characters of the secret
	Created time.Time
	Revoked time.Time // zero while it is good
	LastDay Day       // the last day it was used on, or 0
}

// CreateKey makes a key and returns its secret, which cannot be shown again.
func (l *Ledger) CreateKey(ctx context.Context, account int64, name string) (secret string, k Key, err error) {
	if err := checkName("a key", name); err != nil {
		return "", Key{}, err
	}
	secret = NewKey()
	hash := digestOf(secret)
	k = Key{Account: account, Name: name, Hint: hint(secret)}
	err = l.change(ctx, ErrNoAccount, func(now time.Time) statement {
		k.Created = now.UTC()
		return statement{name: "create_key", args: []any{account, name, toHex(hash[:]), k.Hint, now.UnixNano()},
			scan: func(r row) error { return r.Scan(&k.ID) }}
	})
	if err != nil {
		return "", Key{}, err
	}
	return secret, k, nil
}

// ListKeys lists an account's keys, the revoked ones too, oldest first.
func (l *Ledger) ListKeys(ctx context.Context, account int64) ([]Key, error) {
	var list []Key
	err := l.query(ctx, statement{name: "list_keys", args: []any{account}, scan: func(r row) error {
		var k Key
		var created, revoked int64
		err := r.Scan(&k.ID, &k.Account, &k.Name, &k.Hint, &created, &revoked, &k.LastDay)
		k.Created = time.Unix(0, created).UTC()
		if revoked != 0 {
			k.Revoked = time.Unix(0, revoked).UTC()
		}
		list = append(list, k)
		return err
	}})
	return list, err
}

// RevokeKey shuts a key out for good, from the next request on, on every
// replica. To revoke it again changes nothing.
func (l *Ledger) RevokeKey(ctx context.Context, account, key int64) error {
	return l.change(ctx, ErrNoKey, func(now time.Time) statement {
		return statement{name: "revoke_key", args: []any{account, key, now.UnixNano()}}
	})
}
