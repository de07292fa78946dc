package ledger

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
func (l *Ledger) CreateKey(ctx context.Context, account int64, name string, t KeyTerms) (secret string, k Key, err error) {
	return l.createKey(ctx, Key{Account: account, Name: name, KeyTerms: t})
}

// CreateTestKey creates a test key, which has neither a budget nor a rate of its own. Its
// secret has the form of all secrets. Otherwise it does what CreateKey does.
func (l *Ledger) CreateTestKey(ctx context.Context, account int64, name string, t KeyTerms) (secret string, k Key, err error) {
	return l.createKey(ctx, Key{Account: account, Name: name, KeyTerms: t, Test: true})
}

func (l *Ledger) createKey(ctx context.Context, k Key) (secret string, _ Key, err error) {
	k.Created = l.clock.now().UTC()
	if err := cmp.Or(checkKeyName(k.Name), k.check(), k.checkExpiry(k.Created), k.checkTest()); err != nil {
		return "", Key{}, err
	}
	secret = NewSecret()
	k.Hint = hint(secret)
	c, p := keyCount{account: k.Account}, policyRead{account: k.Account, name: k.Policy}
	reads := func() []store.Statement {
		return []store.Statement{lockAccount(k.Account), c.read(), p.read(), {Name: "create_key",
			Args: append(append([]any{k.Account, k.Name, k.Hint, k.Created.UnixNano()}, k.args()...), k.Test),
			Scan: func(r store.Row) error { return r.Scan(&k.ID) }}}
	}
	err = l.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		if err := cmp.Or(c.check(), ownerMay(ctx, c.suspended), p.checkDefault()); err != nil {
			return nil, err
		}
		writes := []store.Statement{{Name: "create_secret", Args: []any{digestOf(secret).hex(), k.ID, nil}}}
		return append(writes, Audit(ctx, k.Account, now, "key.create", k.subject())...), nil
	})
	if err != nil {
		return "", Key{}, err
	}
	return secret, k, nil
}

// checkTest checks that a test key has no terms of its own about what it does not use.
func (k *Key) checkTest() error {
	switch {
	case k.Test && k.Budget != nil:
		return wrong("budget", errors.New("a test key uses no points, so it has no budget; leave it out"))
	case k.Test && k.Rate != nil:
		return wrong("rate", fmt.Errorf("a test key has the rate of %d requests a second; leave the rate out", freeRate))
	}
	return nil
}

// A keyCount is how many keys an account has. It is read under the lock of the
// account, so that creations at the same time do not exceed the bounds together.
type keyCount struct {
	account     int64
	found       bool
	suspended   bool // the account is
	all, active int
}

func (c *keyCount) read() store.Statement {
	c.found = false
	return store.Statement{Name: "count_keys", Args: []any{c.account}, Scan: func(r store.Row) error {
		c.found = true
		return r.Scan(&c.suspended, &c.all, &c.active)
	}}
}

func (c *keyCount) check() error {
	switch {
	case !c.found:
		return ErrNoAccount
	case c.active >= maxActiveKeys:
		return ErrTooManyActiveKeys
	case c.all >= MaxKeys:
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
func (l *Ledger) ListKeys(ctx context.Context, account int64, p KeyPage) (list []Key, err error) {
	if p.After == 0 {
		p.After = math.MaxInt64
	}
	q := keyQuery{account: account, page: p}
	err = l.query(ctx, l.readKeys(q, func(k Key) { list = append(list, k) }))
	return list, err
}

// Key returns a key, which may be revoked or the dashboard's own. It returns
// ErrNoKey if the account has no such key.
func (l *Ledger) Key(ctx context.Context, account, id int64) (k Key, err error) {
	err = l.query(ctx, l.readKeys(anyKey(account, id), func(found Key) { k = found }))
	if err == nil && k.ID == 0 {
		err = ErrNoKey
	}
	return k, err
}

// A keyQuery selects keys of an account.
type keyQuery struct {
	account, id int64 // id is 0 for all
	page        KeyPage
}

// anyKey selects the key with an ID.
func anyKey(account, id int64) keyQuery {
	if id == 0 {
		id = -1 // no key has it, and 0 selects all
	}
	return keyQuery{account, id, KeyPage{After: math.MaxInt64, Limit: 1, Revoked: true, Dashboard: true}}
}

// readKeys returns the statement that reads keys and calls visit for each.
func (l *Ledger) readKeys(q keyQuery, visit func(Key)) store.Statement {
	p := &q.page
	args := []any{q.account, q.id, p.After, pageLimit(p.Limit), lowerASCII(p.Search), p.Revoked, p.Dashboard}
	return store.Statement{Name: "list_keys", Args: args, Scan: func(r store.Row) error {
		k, err := scanKey(r, l.clock.now())
		visit(k)
		return err
	}}
}

// scanKey scans a row of the query list_keys.
func scanKey(r store.Row, now time.Time) (k Key, err error) {
	var created, revoked, expires, replaced int64
	var budget, rate Limit
	var origins string
	var m month
	err = r.Scan(&k.ID, &k.Account, &k.Name, &k.Hint, &created, &revoked, &k.Dashboard,
		&expires, &budget, &rate, &origins, &k.Policy, &k.Test, &m, &k.Used, &replaced, &k.LastDay)
	k.Created, k.Revoked, k.Expires = timeOf(created), timeOf(revoked), timeOf(expires)
	if origins != "" {
		k.Origins = strings.Split(origins, " ")
	}
	k.Budget, k.Rate = budget.orNil(), rate.orNil()
	if k.Budget == nil || m < monthOf(now) {
		k.Used = 0
	}
	if replaced > now.UnixNano() && !k.Dashboard && !k.forHook() {
		k.Replaced = timeOf(replaced)
	}
	return k, err
}

// lowerASCII returns s with ASCII letters in lower case, as both databases compare
// names.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// subject names the key in the audit log.
func (k *Key) subject() string {
	if k.Test {
		return fmt.Sprintf("%d %s (test)", k.ID, k.Name)
	}
	return fmt.Sprintf("%d %s", k.ID, k.Name)
}

// timeOf converts a Unix time in nanoseconds; 0 becomes the zero time.
func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// A KeyChange is what ChangeKey changes; nil changes nothing.
type KeyChange struct {
	Name  *string
	Terms *KeyTerms // in place of all of the key's terms
}

// ChangeKey changes a key, from its next request on. It returns a *FieldError for
// a name or a term that is wrong, ErrNoKey if the account has no such key, ErrRevoked if
// the key is revoked, and ErrSuspended to the owner of a suspended account.
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
	p := policyRead{account: account, name: terms.Policy}
	return l.changeKey(ctx, account, key, p.read, func(k Key, a Account, now time.Time) (change, error) {
		if err := cmp.Or(ownerMay(ctx, !a.Suspended.IsZero()), p.checkDefault()); err != nil {
			return change{}, err
		}
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
	if err := k.checkTest(); err != nil {
		return change{}, err
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
// again changes nothing. The owner of a suspended account may do it: its secret may be
// known to others, and the account may be resumed. It returns ErrNoKey if the account has no such key.
func (l *Ledger) RevokeKey(ctx context.Context, account, key int64) error {
	return l.changeKey(ctx, account, key, nil, func(k Key, _ Account, now time.Time) (change, error) {
		if !k.Revoked.IsZero() {
			return change{}, nil
		}
		return changed("key.revoke", k.subject(), store.Statement{Name: "revoke_key", Args: []any{key, now.UnixNano()}}), nil
	})
}

// RevokeKeysBefore revokes the keys that an account had before a time, as RevokeKey
// does, and records it in one line.
func (l *Ledger) RevokeKeysBefore(ctx context.Context, account int64, before time.Time) error {
	return l.changeAccount(ctx, account, func(_ Account, now time.Time) (change, error) {
		revoke := store.Statement{Name: "revoke_keys_before", Args: []any{account, before.UnixNano(), now.UnixNano()}}
		return changed("key.revoke", "all made before "+before.UTC().Format(time.RFC3339), revoke), nil
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
func (l *Ledger) RotateKey(ctx context.Context, account, key int64, grace time.Duration) (secret string, k Key, err error) {
	if grace < 0 || grace > MaxGrace {
		return "", Key{}, wrong("grace", fmt.Errorf("the grace %s is outside 0 to %s", grace, MaxGrace))
	}
	secret = NewSecret()
	err = l.changeKey(ctx, account, key, nil, func(found Key, a Account, now time.Time) (change, error) {
		if k = found; !k.Revoked.IsZero() {
			return change{}, ErrRevoked
		}
		if err := ownerMay(ctx, !a.Suspended.IsZero()); err != nil {
			return change{}, err
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

// changeKey decides a change of a key under the lock of its account, after another read
// unless it is nil, and records it. It returns ErrNoKey if the account has no such key, or the key is the
// dashboard's.
func (l *Ledger) changeKey(ctx context.Context, account, key int64, also func() store.Statement, decide func(Key, Account, time.Time) (change, error)) error {
	var k Key
	read := func() []store.Statement {
		k = Key{}
		list := []store.Statement{l.readKeys(anyKey(account, key), func(found Key) { k = found })}
		if also != nil {
			list = append(list, also())
		}
		return list
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
func (l *Ledger) DashboardSecret(ctx context.Context, account int64) (secret string, expires time.Time, err error) {
	var key int64
	return l.serviceSecret(ctx, &key, func() []store.Statement {
		key = 0
		return []store.Statement{
			lockAccount(account), // so that two replicas make one key
			{Name: "create_dashboard_key", Args: []any{account, dashboardKeyName, l.clock.now().UnixNano()}},
			{Name: "read_dashboard_key", Args: []any{account}, Scan: func(r store.Row) error { return r.Scan(&key) }},
		}
	})
}

// HookSecret returns a new secret of the account's key for a hook, and when it expires.
// It creates the key if the account has none. It returns ErrRevoked if the account's
// owner revoked the key.
func (l *Ledger) HookSecret(ctx context.Context, account int64, hook string) (secret string, expires time.Time, err error) {
	k, err := l.hookKey(ctx, account, hookKeyPrefix+hook)
	if err != nil {
		return "", time.Time{}, err
	}
	return l.serviceSecret(ctx, &k.ID, func() []store.Statement { return []store.Statement{lockAccount(account)} })
}

// serviceSecret gives the key that reads has found a secret. It returns ErrNoAccount
// if there is no key.
func (l *Ledger) serviceSecret(ctx context.Context, key *int64, reads func() []store.Statement) (secret string, expires time.Time, err error) {
	secret = NewSecret()
	err = l.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		if *key == 0 {
			return nil, ErrNoAccount
		}
		expires = now.Add(serviceSecretLife).UTC()
		return []store.Statement{
			{Name: "delete_expired_secrets", Args: []any{*key, now.UnixNano()}},
			{Name: "trim_secrets", Args: []any{*key, maxServiceSecrets - 1}},
			{Name: "create_secret", Args: []any{digestOf(secret).hex(), *key, expires.UnixNano()}},
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
// a key that the owner revoked is not replaced. It passes over test keys: a hook with one
// would decide by the table.
func (l *Ledger) oldestKey(ctx context.Context, account int64, name string) (k Key, found bool, err error) {
	page := KeyPage{Search: name, Revoked: true}
	for {
		list, err := l.ListKeys(ctx, account, page)
		if err != nil || len(list) == 0 {
			return k, found, err
		}
		for _, other := range list { // newest first
			if other.Name == name && !other.Test {
				k, found = other, true
			}
		}
		page.After = list[len(list)-1].ID
	}
}

// forHook reports whether the key is of a hook: its secrets expire, but were not
// replaced by a rotation.
func (k *Key) forHook() bool { return strings.HasPrefix(k.Name, hookKeyPrefix) }
