package ledger

import (
	"context"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A sign-up hook checks addresses with a key of the account that pays, so that points,
// rates and refusals are those of every other request. The key is like any other of the
// account: its owner sees its use, and may give it a budget or revoke it. As with the
// dashboard's key, the secrets that the service uses are short-lived and only in memory.

// hookKeyPrefix begins the names of these keys.
const hookKeyPrefix = "hook "

// HookSecret returns a new secret of the account's key for a hook, and when it expires.
// It creates the key if the account has none. It returns ErrRevoked if the account's
// owner revoked the key.
func (l *Ledger) HookSecret(ctx context.Context, account int64, hook string) (secret string, expires time.Time, err error) {
	k, err := l.hookKey(ctx, account, hookKeyPrefix+hook)
	if err != nil {
		return "", time.Time{}, err
	}
	secret = NewSecret()
	reads := func() []store.Statement { return []store.Statement{lockAccount(account)} }
	err = l.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		expires = now.Add(dashboardSecretLife).UTC()
		return []store.Statement{
			{Name: "delete_expired_secrets", Args: []any{k.ID, now.UnixNano()}},
			{Name: "trim_secrets", Args: []any{k.ID, otherDashboardSecret}},
			{Name: "create_secret", Args: []any{digestOf(secret).hex(), k.ID, expires.UnixNano()}},
		}, nil
	})
	if err != nil {
		return "", time.Time{}, err
	}
	return secret, expires, nil
}

// hookKey returns the oldest key with a name, and creates it if there is none. Its
// first secret is thrown away. Two replicas may create two; both then use the older.
func (l *Ledger) hookKey(ctx context.Context, account int64, name string) (Key, error) {
	k, found, err := l.oldestKey(ctx, account, name)
	if err == nil && !found {
		if _, _, err = l.CreateKey(WithActor(ctx, Service), account, name, KeyTerms{}); err == nil {
			k, _, err = l.oldestKey(ctx, account, name)
		}
	}
	if err == nil && !k.Revoked.IsZero() {
		err = ErrRevoked
	}
	return k, err
}

// oldestKey returns the oldest key of an account with a name, revoked ones too, so that
// a key that the owner revoked is not replaced.
func (l *Ledger) oldestKey(ctx context.Context, account int64, name string) (k Key, found bool, err error) {
	page := KeyPage{Search: name, Revoked: true}
	for {
		list, err := l.ListKeys(ctx, account, page)
		if err != nil || len(list) == 0 {
			return k, found, err
		}
		for _, other := range list { // newest first
			if other.Name == name {
				k, found = other, true
			}
		}
		page.After = list[len(list)-1].ID
	}
}

// forHook reports whether the key is of a hook: its secrets expire, but were not
// replaced by a rotation.
func (k *Key) forHook() bool { return strings.HasPrefix(k.Name, hookKeyPrefix) }
