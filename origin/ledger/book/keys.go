package book

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Bounds of an account's keys, without the dashboard's own.
const (
	maxActiveKeys = 1000   // that are not revoked
	MaxKeys       = 10_000 // in all, since usage refers to revoked keys too
)

// Errors of keys.
var (
	ErrNoKey             = errors.New("the account has no such key")
	ErrTooManyActiveKeys = fmt.Errorf("the account has %d keys, which is the most; revoke one that is not used", maxActiveKeys)
	ErrTooManyKeys       = fmt.Errorf("the account has created %d keys, which is the most; rotate a key instead of creating another", MaxKeys)
	ErrRevoked           = errors.New("the key is revoked; create another")
)

// A Key authenticates requests of an account. Its secret is not stored.
type Key struct {
	ID      int64     `json:"id"`
	Account int64     `json:"-"`
	Name    string    `json:"name"`
	Hint    string    `json:"begins"` // the first characters of the secret
	Created time.Time `json:"created"`
	Revoked time.Time `json:"revoked,omitzero"` // zero if it is not revoked
	KeyTerms
	Used      int64     `json:"used"` // points of the budget this month; 0 if it has none
	Replaced  time.Time `json:"-"`    // the end of the grace of the secret that a rotation replaced; zero if there is none
	LastDay   Day       `json:"-"`    // the last day with a request, or 0
	Dashboard bool      `json:"-"`    // the key of checks made in the dashboard
	Test      bool      `json:"test"` // its requests cost nothing and get the responses of a table; never changes
}

// CreateKey creates a key and returns it with its secret, which cannot be read again. It returns a
// *FieldError for a name or a term that is wrong, and ErrTooManyActiveKeys or ErrTooManyKeys if
// the account has too many keys.
func (b *Book) CreateKey(ctx context.Context, account int64, name string, t KeyTerms) (secret string, k Key, err error) {
	return b.createKey(ctx, Key{Account: account, Name: name, KeyTerms: t})
}

// CreateTestKey does the same for a test key, which has neither a budget nor a rate of its own. Its
// secret has the form of all secrets.
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
	row := append(append([]any{k.Account, k.Name, k.Hint, k.Created.UnixNano()}, k.args()...), k.Test)
	var keys, active int
	var p Policy
	reads := func() []store.Statement {
		return []store.Statement{readRow("count_keys", []any{k.Account}, &keys, &active),
			ReadPolicy(k.Account, k.Policy, &p), readRow("create_key", row, &k.ID)}
	}
	err = b.changeAccount(ctx, k.Account, reads, func(a Account, now time.Time) ([]store.Statement, error) {
		switch {
		case active >= maxActiveKeys:
			return nil, ErrTooManyActiveKeys
		case keys >= MaxKeys:
			return nil, ErrTooManyKeys
		}
		if err := cmp.Or(ownerMay(ctx, a), k.checkPolicy(p)); err != nil {
			return nil, err
		}
		return Audit(ctx, k.Account, now, "key.create", k.subject(),
			statement("create_secret", DigestOf(secret).Hex(), k.ID, nil)), nil
	})
	if err != nil {
		return "", Key{}, err
	}
	return secret, k, nil
}

// CheckKey returns a *FieldError if no key can have the name or the terms of k. An expiry that
// is over is no error. It replaces each origin by its serialisation.
func CheckKey(k *Key) error {
	refuse := func(field, why string, args ...any) error { return wrong(field, fmt.Errorf(why, args...)) }
	k.Expires = k.Expires.UTC().Round(0) // without the monotonic clock
	var origins []string
	for _, text := range k.Origins {
		origin, err := parseOrigin(text)
		if err != nil {
			return wrong("origins", err)
		}
		if !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
		if len(origins) > maxOrigins {
			return refuse("origins", "a key may be bound to %d origins at most; create another key for the rest", maxOrigins)
		}
	}
	k.Origins = origins
	switch {
	case k.Expires.Year() > lastYear:
		return refuse("expires", "a key must expire by the year %d; leave the expiry out for a key that does not expire", lastYear)
	case k.Policy != "" && CheckPolicyName(k.Policy) != nil:
		return wrong("policy", errPolicyName)
	case k.Test && k.Budget != nil:
		return refuse("budget", "a test key uses no points, so it has no budget; leave it out")
	case k.Test && k.Rate != nil:
		return refuse("rate", "a test key has the rate of %d requests a second; leave the rate out", FreeRate)
	case k.Budget != nil && *k.Budget == Unlimited:
		return refuse("budget", "a key's budget must be a number; leave it out to use the account's")
	case k.Rate != nil && *k.Rate == Unlimited:
		return refuse("rate", "a key's rate must be a number; leave it out to use the account's")
	}
	return cmp.Or(wrong("name", checkName("a key", k.Name)),
		wrong("budget", checkPoints(k.Budget)), wrong("rate", checkRate(k.Rate)))
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

// Key returns a key, which may be revoked or the dashboard's own.
func (b *Book) Key(ctx context.Context, account, id int64) (k Key, err error) {
	err = b.query(ctx, b.readKey(account, id, &k))
	if err == nil && k.ID == 0 {
		err = ErrNoKey
	}
	return k, err
}

func (b *Book) readKey(account, id int64, k *Key) store.Statement {
	*k = Key{}
	any := KeyPage{Limit: 1, Revoked: true, Dashboard: true}
	return b.readKeys(account, cmp.Or(id, -1), any, func(found Key) { *k = found })
}

// An ID that is not zero selects one key. visit gets the newest first.
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
		if k.Dashboard || strings.HasPrefix(k.Name, hookKeyPrefix) || !k.Replaced.After(now) {
			k.Replaced = time.Time{}
		}
		visit(k)
		return err
	}}
}

func (k *Key) subject() string {
	if k.Test {
		return fmt.Sprintf("%d %s (test)", k.ID, k.Name)
	}
	return fmt.Sprintf("%d %s", k.ID, k.Name)
}

// changeKey decides a change of a key under the lock of its account, after further reads. The
// dashboard's key cannot be changed.
func (b *Book) changeKey(ctx context.Context, account, key int64, also func() store.Statement,
	decide func(Key, Account, time.Time) ([]store.Statement, error)) error {
	var k Key
	reads := func() []store.Statement {
		list := []store.Statement{b.readKey(account, key, &k)}
		if also != nil {
			list = append(list, also())
		}
		return list
	}
	err := b.changeAccount(ctx, account, reads, func(a Account, now time.Time) ([]store.Statement, error) {
		if k.ID == 0 || k.Dashboard {
			return nil, ErrNoKey
		}
		return decide(k, a, now)
	})
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

// ChangeKey changes a key, from its next request on. It returns a *FieldError for a name or a term
// that is wrong, and ErrRevoked if the key is revoked. A new name alone is in the audit log as
// key.rename.
func (b *Book) ChangeKey(ctx context.Context, account, key int64, c KeyChange) error {
	var p Policy
	name := ""
	if c.Terms != nil {
		name = c.Terms.Policy
	}
	read := func() store.Statement { return ReadPolicy(account, name, &p) }
	return b.changeKey(ctx, account, key, read, func(k Key, a Account, now time.Time) ([]store.Statement, error) {
		was := k
		if c.Name != nil {
			k.Name = *c.Name
		}
		if c.Terms != nil {
			k.KeyTerms = *c.Terms
		}
		err := cmp.Or(ownerMay(ctx, a), CheckKey(&k))
		if err == nil && !k.Revoked.IsZero() {
			err = ErrRevoked
		}
		if err == nil && c.Terms != nil {
			err = k.checkPolicy(p)
		}
		if err == nil && !k.Expires.Equal(was.Expires) {
			err = k.checkExpiry(now)
		}
		if err != nil {
			return nil, err
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
	})
}

// RevokeKey revokes a key on every replica, from the next request on. The owner of a suspended
// account may do it, because others may know the secret and the account may be resumed.
func (b *Book) RevokeKey(ctx context.Context, account, key int64) error {
	return b.changeKey(ctx, account, key, nil, func(k Key, _ Account, now time.Time) ([]store.Statement, error) {
		if !k.Revoked.IsZero() {
			return nil, nil
		}
		return Audit(ctx, account, now, "key.revoke", k.subject(), statement("revoke_key", key, now.UnixNano())), nil
	})
}

// RevokeKeysBefore revokes the keys that an account had before a time, as RevokeKey
// does, and records it in one line.
func (b *Book) RevokeKeysBefore(ctx context.Context, account int64, before time.Time) error {
	return b.changeAccount(ctx, account, nil, func(_ Account, now time.Time) ([]store.Statement, error) {
		return Audit(ctx, account, now, "key.revoke", "all made before "+before.UTC().Format(time.RFC3339),
			statement("revoke_keys_before", account, before.UnixNano(), now.UnixNano())), nil
	})
}

// MaxGrace is the longest time that the old secret of a rotated key may remain valid.
const MaxGrace = 7 * 24 * time.Hour

// RotateKey gives a key a new secret and returns it. The old secret is valid for the grace, with 0
// not from now on; secrets that earlier rotations replaced are not valid any more, so at most two
// are. The key's terms, usage and idempotency records remain. It returns ErrRevoked if the key is
// revoked.
func (b *Book) RotateKey(ctx context.Context, account, key int64, grace time.Duration) (secret string, k Key, err error) {
	if grace < 0 || grace > MaxGrace {
		return "", Key{}, wrong("grace", fmt.Errorf("the grace %s is outside 0 to %s", grace, MaxGrace))
	}
	secret = NewSecret()
	err = b.changeKey(ctx, account, key, nil, func(found Key, a Account, now time.Time) ([]store.Statement, error) {
		k = found
		if !k.Revoked.IsZero() {
			return nil, ErrRevoked
		}
		if err := ownerMay(ctx, a); err != nil {
			return nil, err
		}
		k.Hint, k.Replaced = hint(secret), time.Time{}
		list := []store.Statement{statement("delete_secrets", k.ID)}
		if grace > 0 {
			k.Replaced = now.Add(grace).UTC()
			list = []store.Statement{statement("delete_replaced_secrets", k.ID),
				statement("replace_secrets", k.ID, k.Replaced.UnixNano())}
		}
		list = append(list,
			statement("create_secret", DigestOf(secret).Hex(), k.ID, nil), statement("put_hint", k.ID, k.Hint))
		return Audit(ctx, account, now, "key.rotate", k.subject(), list...), nil
	})
	if err != nil {
		return "", Key{}, err
	}
	return secret, k, nil
}

// The service checks addresses for the dashboard and for sign-up hooks with keys of
// the account that pays, so that points, rates and refusals are those of every other
// request. The dashboard's key has neither a secret nor audit lines: the service makes
// it. The key of a hook is like any other of the account: its owner sees its use, and
// may give it a budget or revoke it. Its secrets are short-lived and kept in memory by
// the replica that requested them.
const (
	hookKeyPrefix     = "hook " // begins the names of the keys of hooks
	serviceSecretLife = time.Hour
	maxServiceSecrets = 16 // of a key, valid at a time: one for each replica and hour
)

// DashboardDigest returns the digest of an account's dashboard key, which takes the place of a
// secret's. It is the digest of a text that is not [WellFormed], so no caller can send a secret
// that has it.
func DashboardDigest(account int64) Digest {
	return DigestOf("dashboard key of account " + strconv.FormatInt(account, 10))
}

// CreateDashboardKey creates the account's dashboard key, unless the account has it.
func (b *Book) CreateDashboardKey(ctx context.Context, account int64) error {
	var id int64
	reads := func() []store.Statement {
		return []store.Statement{statement("create_dashboard_key", account, "Dashboard", b.now().UnixNano()),
			readRow("read_dashboard_key", []any{account}, &id)}
	}
	return b.changeAccount(ctx, account, reads, func(Account, time.Time) ([]store.Statement, error) {
		return []store.Statement{statement("delete_secrets", id),
			statement("create_secret", DashboardDigest(account).Hex(), id, nil)}, nil
	})
}

// HookSecret returns a new secret of the account's key for a hook, and when it expires. It
// creates the key if the account has none; the first secret of that is thrown away. Two
// replicas may create two keys; both then use the older. It returns ErrRevoked if the account's
// owner revoked the key, which is not replaced.
func (b *Book) HookSecret(ctx context.Context, account int64, hook string) (secret string, expires time.Time, err error) {
	name := hookKeyPrefix + hook
	var k Key
	oldest := func() []store.Statement {
		k = Key{}
		page := KeyPage{Limit: MaxKeys, Search: name, Revoked: true}
		return []store.Statement{b.readKeys(account, 0, page, func(found Key) {
			if found.Name == name && !found.Test { // a test key would decide by the table
				k = found
			}
		})}
	}
	secret = NewSecret()
	add := func(_ Account, now time.Time) ([]store.Statement, error) {
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
	}
	err = b.changeAccount(ctx, account, oldest, add)
	if err == ErrNoKey {
		_, _, err = b.CreateKey(WithActor(ctx, Service), account, name, KeyTerms{})
		if err == nil {
			err = b.changeAccount(ctx, account, oldest, add)
		}
	}
	if err != nil {
		return "", time.Time{}, err
	}
	return secret, expires, nil
}
