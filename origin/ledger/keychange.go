package ledger

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A KeyChange is what ChangeKey changes; nil changes nothing.
type KeyChange struct {
	Name  *string
	Terms *KeyTerms // in place of all of the key's terms
}

// ChangeKey changes a key, from its next request on. It returns a *FieldError for
// a name or a term that is wrong, ErrNoKey if the account has no such key, and
// ErrRevoked if the key is revoked.
func (l *Ledger) ChangeKey(ctx context.Context, account, key int64, c KeyChange) error {
	if c.Name != nil {
		if err := checkKeyName(*c.Name); err != nil {
			return err
		}
	}
	terms := KeyTerms{}
	if c.Terms != nil {
		terms = *c.Terms
		if err := terms.check(); err != nil {
			return err
		}
		c.Terms = &terms
	}
	return l.changeKey(ctx, account, key, func(k Key, a Account, now time.Time) (change, error) {
		return k.changedTo(c, a, now)
	})
}

// changedTo returns the statement that changes the key and its line of the audit
// log: key.rename for a name, key.change for terms.
func (k *Key) changedTo(c KeyChange, a Account, now time.Time) (change, error) {
	was, action := *k, "key.rename"
	if !k.Revoked.IsZero() {
		return change{}, ErrRevoked
	}
	if c.Name != nil {
		k.Name = *c.Name
	}
	if c.Terms != nil {
		k.KeyTerms = *c.Terms
	}
	if !k.Expires.Equal(was.Expires) {
		if err := k.checkExpiry(now); err != nil {
			return change{}, err
		}
	}
	switch {
	case !k.sameTerms(&was):
		action = "key.change"
	case k.Name == was.Name:
		return change{}, nil
	}
	m := max(a.month, monthOf(now)) // the account's may be later, after a clock was ahead
	args := append(append([]any{k.ID, k.Name}, k.args()...), int64(m), int64(DayOf(m.begin())))
	return changed(action, k.changeSubject(&was), store.Statement{Name: "change_key", Args: args}), nil
}

// sameTerms reports whether two keys have the same terms.
func (k *Key) sameTerms(other *Key) bool {
	return reflect.DeepEqual(k.KeyTerms.args(), other.KeyTerms.args())
}

// changeSubject names the key in the audit log, with its earlier name if it has a
// new one.
func (k *Key) changeSubject(was *Key) string {
	if k.Name != was.Name {
		return fmt.Sprintf("%s (was %s)", k.subject(), was.Name)
	}
	return k.subject()
}

// RevokeKey revokes a key on every replica, from the next request on. Revoking it
// again changes nothing. It returns ErrNoKey if the account has no such key.
func (l *Ledger) RevokeKey(ctx context.Context, account, key int64) error {
	return l.changeKey(ctx, account, key, func(k Key, _ Account, now time.Time) (change, error) {
		if !k.Revoked.IsZero() {
			return change{}, nil
		}
		return changed("key.revoke", k.subject(), store.Statement{Name: "revoke_key", Args: []any{key, now.UnixNano()}}), nil
	})
}

// MaxGrace is the longest time that the old secret of a rotated key may remain
// valid.
const MaxGrace = 7 * 24 * time.Hour

// RotateKey gives a key a new secret and returns it. The old secret is valid for
// the grace, with 0 not from now on; secrets that earlier rotations replaced are
// not valid any more, so at most two are. The key's terms, usage and idempotency
// records remain. It returns ErrNoKey if the account has no such key, and
// ErrRevoked if the key is revoked.
func (l *Ledger) RotateKey(ctx context.Context, account, key int64, grace time.Duration) (secret string, k Key, err error) {
	if grace < 0 || grace > MaxGrace {
		return "", Key{}, wrong("grace", fmt.Errorf("the grace %s is outside 0 to %s", grace, MaxGrace))
	}
	secret = NewSecret()
	err = l.changeKey(ctx, account, key, func(found Key, _ Account, now time.Time) (change, error) {
		if k = found; !k.Revoked.IsZero() {
			return change{}, ErrRevoked
		}
		k.Hint, k.Replaced = hint(secret), time.Time{}
		if grace > 0 {
			k.Replaced = now.Add(grace).UTC()
		}
		return changed("key.rotate", k.subject(), k.rotation(secret)...), nil
	})
	if err != nil {
		return "", Key{}, err
	}
	return secret, k, nil
}

// rotation returns the statements that replace the secrets of k.
func (k *Key) rotation(secret string) []store.Statement {
	list := []store.Statement{{Name: "delete_secrets", Args: []any{k.ID}}}
	if !k.Replaced.IsZero() {
		list = []store.Statement{
			{Name: "delete_replaced_secrets", Args: []any{k.ID}},
			{Name: "replace_secrets", Args: []any{k.ID, k.Replaced.UnixNano()}},
		}
	}
	return append(list,
		store.Statement{Name: "create_secret", Args: []any{digestOf(secret).hex(), k.ID, nil}},
		store.Statement{Name: "put_hint", Args: []any{k.ID, k.Hint}})
}

// changeKey decides a change of a key under the lock of its account, and records
// it. It returns ErrNoKey if the account has no such key, or the key is the
// dashboard's.
func (l *Ledger) changeKey(ctx context.Context, account, key int64, decide func(Key, Account, time.Time) (change, error)) error {
	var k Key
	read := func() store.Statement {
		k = Key{}
		return l.readKeys(anyKey(account, key), func(found Key) { k = found })
	}
	err := l.changeAccountAfter(ctx, account, read, func(a Account, now time.Time) (change, error) {
		if k.ID == 0 || k.Dashboard {
			return change{}, ErrNoKey
		}
		return decide(k, a, now)
	})
	if err == ErrNoAccount {
		return ErrNoKey
	}
	return err
}
