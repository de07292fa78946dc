package book

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Bounds of an account's keys, without the dashboard's own.
const (
	maxActiveKeys = 1000   // that are not revoked
	MaxKeys       = 10_000 // in all, since usage refers to revoked keys too
)

// Errors of changes to keys.
var (
	ErrTooManyActiveKeys = fmt.Errorf("the account has %d keys, which is the most; revoke one that is not used", maxActiveKeys)
	ErrTooManyKeys       = fmt.Errorf("the account has created %d keys, which is the most; rotate a key instead of creating another", MaxKeys)
	ErrRevoked           = errors.New("the key is revoked; create another")
)

// A Key authenticates requests of an account. Its secret is not stored.
type Key struct {
	ID      int64
	Account int64
	Name    string
	Hint    string // the first characters of the secret
	Created time.Time
	Revoked time.Time // zero if it is not revoked
	KeyTerms
	Used      int64     // points of the budget this month; 0 if it has none
	Replaced  time.Time // the end of the grace of the secret that a rotation replaced; zero if there is none
	LastDay   Day       // the last day with a request, or 0
	Dashboard bool      // the key of checks made in the dashboard
	Test      bool      // its requests cost nothing and get the responses of a table; never changes
}

// CreateKey creates a key and returns it with its secret, which cannot be read
// again. It returns a *FieldError for a name or a term that is wrong, ErrNoAccount
// if there is no such account, ErrTooManyActiveKeys and ErrTooManyKeys if it has too
// many keys, ErrSuspended to the owner of a suspended one.
func (b *Book) CreateKey(ctx context.Context, account int64, name string, t KeyTerms) (secret string, k Key, err error) {
	return b.createKey(ctx, Key{Account: account, Name: name, KeyTerms: t})
}

// CreateTestKey creates a test key, which has neither a budget nor a rate of its own. Its
// secret has the form of all secrets. Otherwise it does what CreateKey does.
func (b *Book) CreateTestKey(ctx context.Context, account int64, name string, t KeyTerms) (secret string, k Key, err error) {
	return b.createKey(ctx, Key{Account: account, Name: name, KeyTerms: t, Test: true})
}

func (b *Book) createKey(ctx context.Context, k Key) (secret string, _ Key, err error) {
	k.Created = b.now().UTC()
	if err := cmp.Or(CheckKey(&k), k.checkExpiry(k.Created)); err != nil {
		return "", Key{}, err
	}
	secret = NewSecret()
	k.Hint = hint(secret)
	var keys, active int
	count := func() store.Statement {
		return readRow("count_keys", []any{k.Account}, &keys, &active)
	}
	create := func() store.Statement {
		args := append(append([]any{k.Account, k.Name, k.Hint, k.Created.UnixNano()}, k.args()...), k.Test)
		return readRow("create_key", args, &k.ID)
	}
	var p Policy
	err = b.changeAccount(ctx, k.Account, func(a Account, now time.Time) ([]store.Statement, error) {
		if err := cmp.Or(CheckKeyCount(keys, active), ownerMay(ctx, !a.Suspended.IsZero()), k.checkPolicy(p)); err != nil {
			return nil, err
		}
		return Audit(ctx, k.Account, now, "key.create", k.subject(),
			statement("create_secret", DigestOf(secret).Hex(), k.ID, nil)), nil
	}, count, ReadPolicy(k.Account, k.Policy, &p), create)
	if err != nil {
		return "", Key{}, err
	}
	return secret, k, nil
}

// FreeRate is how many requests that cost nothing an account may send to a replica in a second:
// those with test keys, and those that only ask whether a key is good. They take no tokens of the
// account, because tests should not slow its other requests.
const FreeRate = 100

// CheckKey returns a *FieldError if no key can have the name or the terms of k. An expiry that
// is over is no error. It replaces each origin by its serialisation.
func CheckKey(k *Key) error {
	if err := cmp.Or(wrong("name", checkName("a key", k.Name)), k.check()); err != nil {
		return err
	}
	switch {
	case k.Test && k.Budget != nil:
		return wrong("budget", errors.New("a test key uses no points, so it has no budget; leave it out"))
	case k.Test && k.Rate != nil:
		return wrong("rate", fmt.Errorf("a test key has the rate of %d requests a second; leave the rate out", FreeRate))
	}
	return nil
}

// CheckKeyCount returns an error if an account with so many keys, and so many that are not
// revoked, can have no other. The counts are read under the lock of the account, because
// creations at the same time could exceed the bounds together.
func CheckKeyCount(all, active int) error {
	switch {
	case active >= maxActiveKeys:
		return ErrTooManyActiveKeys
	case all >= MaxKeys:
		return ErrTooManyKeys
	}
	return nil
}

// A KeyPage is a part of the list of an account's keys.
type KeyPage struct {
	After     int64  // the last ID of the page before; 0 for the first page
	Limit     int    // how many, at most MaxPage; 0 is MaxPage
	Search    string // a part of the name, ASCII letters in either case; "" for all
	Revoked   bool   // list revoked keys too
	Dashboard bool   // list the dashboard's own key too, which cannot be changed
}

// ListKeys returns a page of an account's keys, newest first.
func (b *Book) ListKeys(ctx context.Context, account int64, p KeyPage) (list []Key, err error) {
	p.Limit = pageLimit(p.Limit)
	err = b.query(ctx, b.readKeys(account, 0, p, func(k Key) { list = append(list, k) }))
	return list, err
}

// Key returns a key, which may be revoked or the dashboard's own. It returns
// ErrNoKey if the account has no such key.
func (b *Book) Key(ctx context.Context, account, id int64) (k Key, err error) {
	err = b.query(ctx, b.readKey(account, id, &k)())
	if err == nil && k.ID == 0 {
		err = ErrNoKey
	}
	return k, err
}

// readKey returns a read of a key, which may be any of the account's.
func (b *Book) readKey(account, id int64, k *Key) func() store.Statement {
	return func() store.Statement {
		*k = Key{}
		any := KeyPage{Limit: 1, Revoked: true, Dashboard: true}
		return b.readKeys(account, cmp.Or(id, -1), any, func(found Key) { *k = found })
	}
}

// readKeys returns the statement that reads keys, of which id may select one, and calls visit
// for each, newest first.
func (b *Book) readKeys(account, id int64, p KeyPage, visit func(Key)) store.Statement {
	lower := func(r rune) rune { // as both databases compare names
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	args := []any{account, id, cmp.Or(p.After, math.MaxInt64), p.Limit, strings.Map(lower, p.Search), p.Revoked, p.Dashboard}
	return store.Statement{Name: "list_keys", Args: args, Scan: func(r store.Row) error {
		var k Key
		var origins string
		var m Month
		now := b.now()
		err := r.Scan(&k.ID, &k.Account, &k.Name, &k.Hint, unixTime{&k.Created}, unixTime{&k.Revoked}, &k.Dashboard,
			unixTime{&k.Expires}, &k.Budget, &k.Rate, &origins, &k.Policy, &k.Test, &m, &k.Used,
			unixTime{&k.Replaced}, &k.LastDay)
		if origins != "" {
			k.Origins = strings.Split(origins, " ")
		}
		if k.Budget == nil || m < MonthOf(now) {
			k.Used = 0
		}
		// The secrets of the dashboard and of hooks expire, but no rotation has replaced them.
		rotated := !k.Dashboard && !strings.HasPrefix(k.Name, hookKeyPrefix)
		if !rotated || !k.Replaced.After(now) {
			k.Replaced = time.Time{}
		}
		visit(k)
		return err
	}}
}

// subject names the key in the audit log.
func (k *Key) subject() string {
	if k.Test {
		return fmt.Sprintf("%d %s (test)", k.ID, k.Name)
	}
	return fmt.Sprintf("%d %s", k.ID, k.Name)
}

// changeKey decides a change of a key under the lock of its account, after further reads. It
// returns ErrNoKey if the account has no such key, or the key is the dashboard's.
func (b *Book) changeKey(ctx context.Context, account, key int64,
	decide func(Key, Account, time.Time) ([]store.Statement, error), reads ...func() store.Statement) error {
	var k Key
	err := b.changeAccount(ctx, account, func(a Account, now time.Time) ([]store.Statement, error) {
		if k.ID == 0 || k.Dashboard {
			return nil, ErrNoKey
		}
		return decide(k, a, now)
	}, append(reads, b.readKey(account, key, &k))...)
	if err == ErrNoAccount {
		return ErrNoKey
	}
	return err
}

// A KeyChange is what ChangeKey changes; nil changes nothing.
type KeyChange struct {
	Name  *string
	Terms *KeyTerms // in place of all of the key's terms
}

// ChangeKey changes a key, from its next request on. It returns a *FieldError for
// a name or a term that is wrong, ErrNoKey if the account has no such key, ErrRevoked if
// the key is revoked, and ErrSuspended to the owner of a suspended account. A new name alone
// is in the audit log as key.rename.
func (b *Book) ChangeKey(ctx context.Context, account, key int64, c KeyChange) error {
	var p Policy
	var read []func() store.Statement
	if c.Terms != nil {
		read = append(read, ReadPolicy(account, c.Terms.Policy, &p))
	}
	return b.changeKey(ctx, account, key, func(k Key, a Account, now time.Time) ([]store.Statement, error) {
		was := k
		if c.Name != nil {
			k.Name = *c.Name
		}
		if c.Terms != nil {
			k.KeyTerms = *c.Terms
		}
		if err := cmp.Or(ownerMay(ctx, !a.Suspended.IsZero()), CheckKey(&k)); err != nil {
			return nil, err
		}
		if !k.Revoked.IsZero() {
			return nil, ErrRevoked
		}
		if c.Terms != nil {
			if err := k.checkPolicy(p); err != nil {
				return nil, err
			}
		}
		if !k.Expires.Equal(was.Expires) {
			if err := k.checkExpiry(now); err != nil {
				return nil, err
			}
		}
		action, subject := "key.change", k.subject()
		if reflect.DeepEqual(k.args(), was.args()) {
			action = "key.rename"
			if k.Name == was.Name {
				return nil, nil
			}
		}
		if k.Name != was.Name {
			subject = fmt.Sprintf("%s (was %s)", subject, was.Name)
		}
		m := max(a.month, MonthOf(now)) // the account's may be later, after a clock was ahead
		args := append(append([]any{k.ID, k.Name}, k.args()...), int64(m), int64(DayOf(m.Begin())))
		return Audit(ctx, account, now, action, subject, statement("change_key", args...)), nil
	}, read...)
}

// RevokeKey revokes a key on every replica, from the next request on. Revoking it
// again changes nothing. The owner of a suspended account may do it: its secret may be
// known to others, and the account may be resumed. It returns ErrNoKey if the account has no such key.
func (b *Book) RevokeKey(ctx context.Context, account, key int64) error {
	return b.changeKey(ctx, account, key, func(k Key, _ Account, now time.Time) ([]store.Statement, error) {
		if !k.Revoked.IsZero() {
			return nil, nil
		}
		return Audit(ctx, account, now, "key.revoke", k.subject(), statement("revoke_key", key, now.UnixNano())), nil
	})
}

// RevokeKeysBefore revokes the keys that an account had before a time, as RevokeKey
// does, and records it in one line.
func (b *Book) RevokeKeysBefore(ctx context.Context, account int64, before time.Time) error {
	return b.changeAccount(ctx, account, func(_ Account, now time.Time) ([]store.Statement, error) {
		return Audit(ctx, account, now, "key.revoke", "all made before "+before.UTC().Format(time.RFC3339),
			statement("revoke_keys_before", account, before.UnixNano(), now.UnixNano())), nil
	})
}

// MaxGrace is the longest time that the old secret of a rotated key may remain
// valid.
const MaxGrace = 7 * 24 * time.Hour

// RotateKey gives a key a new secret and returns it. The old secret is valid for
// the grace, with 0 not from now on; secrets that earlier rotations replaced are
// not valid any more, so at most two are. The key's terms, usage and idempotency
// records remain. It returns ErrNoKey if the account has no such key, ErrRevoked if the
// key is revoked, and ErrSuspended to the owner of a suspended account.
func (b *Book) RotateKey(ctx context.Context, account, key int64, grace time.Duration) (secret string, k Key, err error) {
	if grace < 0 || grace > MaxGrace {
		return "", Key{}, wrong("grace", fmt.Errorf("the grace %s is outside 0 to %s", grace, MaxGrace))
	}
	secret = NewSecret()
	err = b.changeKey(ctx, account, key, func(found Key, a Account, now time.Time) ([]store.Statement, error) {
		k = found
		if !k.Revoked.IsZero() {
			return nil, ErrRevoked
		}
		if err := ownerMay(ctx, !a.Suspended.IsZero()); err != nil {
			return nil, err
		}
		k.Hint, k.Replaced = hint(secret), time.Time{}
		list := []store.Statement{statement("delete_secrets", k.ID)}
		if grace > 0 {
			k.Replaced = now.Add(grace).UTC()
			list = []store.Statement{
				statement("delete_replaced_secrets", k.ID),
				statement("replace_secrets", k.ID, k.Replaced.UnixNano()),
			}
		}
		list = append(list,
			statement("create_secret", DigestOf(secret).Hex(), k.ID, nil),
			statement("put_hint", k.ID, k.Hint))
		return Audit(ctx, account, now, "key.rotate", k.subject(), list...), nil
	})
	if err != nil {
		return "", Key{}, err
	}
	return secret, k, nil
}

// The service checks addresses for the dashboard and for sign-up hooks with keys of
// the account that pays, so that points, rates and refusals are those of every other
// request. Their secrets are short-lived and kept in memory by the replica that
// requested them. The dashboard's key has no audit lines: the service makes it, and
// nobody sees its secrets. The key of a hook is like any other of the account: its
// owner sees its use, and may give it a budget or revoke it.

const (
	dashboardKeyName  = "Dashboard"
	hookKeyPrefix     = "hook " // begins the names of the keys of hooks
	serviceSecretLife = time.Hour
	maxServiceSecrets = 16 // of a key, valid at a time: one for each replica and hour
)

// DashboardSecret returns a new secret of the account's dashboard key, and when it
// expires. It creates the key if the account has none. If the account has 16 valid
// secrets, the one that expires first is deleted. It returns ErrNoAccount if there
// is no such account.
func (b *Book) DashboardSecret(ctx context.Context, account int64) (secret string, expires time.Time, err error) {
	var k Key
	create := func() store.Statement {
		return statement("create_dashboard_key", account, dashboardKeyName, b.now().UnixNano())
	}
	read := func() store.Statement {
		return readRow("read_dashboard_key", []any{account}, &k.ID)
	}
	return b.serviceSecret(ctx, account, &k, create, read)
}

// HookSecret returns a new secret of the account's key for a hook, and when it expires. It
// creates the key if the account has none; the first secret of that is thrown away. Two
// replicas may create two keys; both then use the older. It returns ErrRevoked if the account's
// owner revoked the key, which is not replaced.
func (b *Book) HookSecret(ctx context.Context, account int64, hook string) (secret string, expires time.Time, err error) {
	name := hookKeyPrefix + hook
	var k Key
	oldest := func() store.Statement {
		k = Key{}
		return b.readKeys(account, 0, KeyPage{Limit: MaxKeys, Search: name, Revoked: true}, func(found Key) {
			if found.Name == name && !found.Test { // a test key would decide by the table
				k = found
			}
		})
	}
	secret, expires, err = b.serviceSecret(ctx, account, &k, oldest)
	if err == ErrNoKey {
		_, _, err = b.CreateKey(WithActor(ctx, Service), account, name, KeyTerms{})
		if err == nil {
			secret, expires, err = b.serviceSecret(ctx, account, &k, oldest)
		}
	}
	return secret, expires, err
}

// serviceSecret gives the key that reads find a secret.
func (b *Book) serviceSecret(ctx context.Context, account int64, k *Key,
	reads ...func() store.Statement) (secret string, expires time.Time, err error) {
	secret = NewSecret()
	err = b.changeAccount(ctx, account, func(_ Account, now time.Time) ([]store.Statement, error) {
		switch {
		case k.ID == 0:
			return nil, ErrNoKey
		case !k.Revoked.IsZero():
			return nil, ErrRevoked
		}
		expires = now.Add(serviceSecretLife).UTC()
		return []store.Statement{
			statement("delete_expired_secrets", k.ID, now.UnixNano()),
			statement("trim_secrets", k.ID, maxServiceSecrets-1),
			statement("create_secret", DigestOf(secret).Hex(), k.ID, expires.UnixNano()),
		}, nil
	}, reads...)
	if err != nil {
		return "", time.Time{}, err
	}
	return secret, expires, nil
}
