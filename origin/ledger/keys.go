package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Bounds of an account's keys, without the dashboard's own.
const (
	MaxActiveKeys = 1000   // that are not revoked
	MaxKeys       = 10_000 // in all, since usage refers to revoked keys too
)

// Errors of changes to keys.
var (
	ErrTooManyActiveKeys = fmt.Errorf("the account has %d keys, which is the most; revoke one that is not used", MaxActiveKeys)
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
}

// KeyTerms are limits of a key within those of its account. The zero value sets
// none.
type KeyTerms struct {
	Expires time.Time // from then on the key is refused
	Budget  *Limit    // points a calendar month
	Rate    *Limit    // requests a second
	Origins []string  // of browser pages that alone may use the key, see ParseOrigin
}

// A FieldError says which part of a key that a person gave is wrong.
type FieldError struct {
	Field string // name, expires, budget, rate, origins or grace
	Err   error
}

func (e *FieldError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

// wrong returns err as the error of a field, nil for nil.
func wrong(field string, err error) error {
	if err == nil {
		return nil
	}
	return &FieldError{field, err}
}

func checkKeyName(name string) error { return wrong("name", checkName("a key", name)) }

// check checks the terms and replaces each origin by its serialisation.
func (t *KeyTerms) check() (err error) {
	if t.Expires.Year() > lastYear {
		return wrong("expires", fmt.Errorf("a key must expire by the year %d; leave the expiry out for a key that does not expire", lastYear))
	}
	t.Expires = t.Expires.UTC().Round(0) // without the monotonic clock
	t.Origins, err = parseOrigins(t.Origins)
	return cmp.Or(checkKeyLimit("budget", t.Budget, checkPoints), checkKeyLimit("rate", t.Rate, checkRate), wrong("origins", err))
}

func checkKeyLimit(field string, l *Limit, check func(Limit) error) error {
	if l != nil && *l == Unlimited {
		return wrong(field, fmt.Errorf("a key's %s must be a number; leave it out to use the account's", field))
	}
	return wrong(field, checkOptional(l, check))
}

// lastYear is before the last time that has a Unix time in nanoseconds.
const lastYear = 2200

// checkExpiry returns an error for an expiry that is over.
func (t *KeyTerms) checkExpiry(now time.Time) error {
	if !t.Expires.IsZero() && !t.Expires.After(now) {
		return wrong("expires", fmt.Errorf("the expiry %s is over; give a later one, or revoke the key", t.Expires.UTC().Format(time.RFC3339)))
	}
	return nil
}

// args returns the terms as arguments of a statement.
func (t *KeyTerms) args() []any {
	expires := any(nil)
	if !t.Expires.IsZero() {
		expires = t.Expires.UnixNano()
	}
	return []any{expires, t.Budget.orNull(), t.Rate.orNull(), strings.Join(t.Origins, " ")}
}

// CreateKey creates a key and returns it with its secret, which cannot be read
// again. It returns a *FieldError for a name or a term that is wrong, ErrNoAccount
// if there is no such account, ErrTooManyActiveKeys and ErrTooManyKeys if it has too
// many keys.
func (l *Ledger) CreateKey(ctx context.Context, account int64, name string, t KeyTerms) (secret string, k Key, err error) {
	created := l.clock.now().UTC()
	if err := cmp.Or(checkKeyName(name), t.check(), t.checkExpiry(created)); err != nil {
		return "", Key{}, err
	}
	secret = NewSecret()
	k = Key{Account: account, Name: name, Hint: hint(secret), Created: created, KeyTerms: t}
	c := keyCount{account: account}
	reads := func() []store.Statement {
		return []store.Statement{lockAccount(account), c.read(), {Name: "create_key",
			Args: append([]any{account, name, k.Hint, created.UnixNano()}, t.args()...),
			Scan: func(r store.Row) error { return r.Scan(&k.ID) }}}
	}
	err = l.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		if err := c.check(); err != nil {
			return nil, err
		}
		writes := []store.Statement{{Name: "create_secret", Args: []any{digestOf(secret).hex(), k.ID, nil}}}
		return append(writes, Audit(ctx, account, now, "key.create", k.subject())...), nil
	})
	if err != nil {
		return "", Key{}, err
	}
	return secret, k, nil
}

// A keyCount is how many keys an account has. It is read under the lock of the
// account, so that creations at the same time do not exceed the bounds together.
type keyCount struct {
	account     int64
	found       bool
	all, active int
}

func (c *keyCount) read() store.Statement {
	c.found = false
	return store.Statement{Name: "count_keys", Args: []any{c.account}, Scan: func(r store.Row) error {
		c.found = true
		return r.Scan(&c.account, &c.all, &c.active)
	}}
}

func (c *keyCount) check() error {
	switch {
	case !c.found:
		return ErrNoAccount
	case c.active >= MaxActiveKeys:
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
		&expires, &budget, &rate, &origins, &m, &k.Used, &replaced, &k.LastDay)
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

// orNil returns nil for Unlimited.
func (l Limit) orNil() *Limit {
	if l == Unlimited {
		return nil
	}
	return &l
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
func (k *Key) subject() string { return fmt.Sprintf("%d %s", k.ID, k.Name) }

// timeOf converts a Unix time in nanoseconds; 0 becomes the zero time.
func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}
