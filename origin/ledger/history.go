package ledger

import (
	"context"
	"math"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A UsageDay is a row of the usage history: what one key did on one day (UTC).
// The points of a month's days sum to the account's points of that month.
type UsageDay struct {
	Account int64
	Email   string // of the account; "" while the account is being deleted
	Key     int64
	KeyName string // likewise
	Day     Day
	Tally
}

// A Tally counts what a key did on a day, or what a request adds to that.
type Tally struct {
	Points   int64 // charged
	Requests int64 // admitted
	Errors   int64 // requests that did not get a 2xx
	Found
}

// Plus returns the sum of two tallies.
func (t Tally) Plus(u Tally) Tally {
	t.Points, t.Requests, t.Errors = t.Points+u.Points, t.Requests+u.Requests, t.Errors+u.Errors
	t.Found = t.Found.plus(u.Found, 1)
	return t
}

// plus returns f + sign*g.
func (f Found) plus(g Found, sign int64) Found {
	return Found{
		Valid: f.Valid + sign*g.Valid, Invalid: f.Invalid + sign*g.Invalid,
		Disposable: f.Disposable + sign*g.Disposable, Public: f.Public + sign*g.Public, Relay: f.Relay + sign*g.Relay,
		Role: f.Role + sign*g.Role, Gibberish: f.Gibberish + sign*g.Gibberish, Typo: f.Typo + sign*g.Typo,
		LookupErrors: f.LookupErrors + sign*g.LookupErrors,
	}
}

// UsageHistory returns the usage from first to last, inclusive, sorted by
// account, day and key. The account 0 means all accounts.
func (l *Ledger) UsageHistory(ctx context.Context, account int64, first, last Day) ([]UsageDay, error) {
	var list []UsageDay
	err := l.query(ctx, store.Statement{Name: "read_usage", Args: []any{account, int64(first), int64(last)}, Scan: func(r store.Row) error {
		var d UsageDay
		err := r.Scan(append([]any{&d.Account, &d.Email, &d.Key, &d.KeyName, &d.Day}, d.fields()...)...)
		list = append(list, d)
		return err
	}})
	return list, err
}

// A KeyDay is what a key did on one day (UTC).
type KeyDay struct {
	Key              int64
	Day              Day
	Points, Requests int64
}

// UsageOfKeys returns what some of an account's keys did from first to last,
// inclusive, in no order. Days without a request are left out.
func (l *Ledger) UsageOfKeys(ctx context.Context, account int64, keys []int64, first, last Day) (list []KeyDay, err error) {
	args := []any{account, int64(first), int64(last), asJSON(keys)}
	err = l.report(ctx, store.Statement{Name: "read_usage_of_keys", Args: args, Scan: func(r store.Row) error {
		var d KeyDay
		err := r.Scan(&d.Key, &d.Day, &d.Points, &d.Requests)
		list = append(list, d)
		return err
	}})
	return list, err
}

// A UsageQuery selects rows of the usage history of one account.
type UsageQuery struct {
	Account     int64
	Key         int64 // 0 for all keys
	First, Last Day   // inclusive
}

func (q *UsageQuery) args(more ...any) []any {
	return append([]any{q.Account, int64(q.First), int64(q.Last)}, more...)
}

// A UsedKey names a key in the usage history.
type UsedKey struct {
	ID        int64
	Name      string
	Hint      string // the first characters of the secret
	Dashboard bool   // the key of checks made in the dashboard
	Test      bool   // a test key, whose use leaves no rows
	Revoked   bool
}

// A UsageRow is what one key did on one day.
type UsageRow struct {
	Key UsedKey
	Day Day
	Tally
}

// A UsagePosition is a row's place in the order of UsageRows. The zero value is
// before the first row.
type UsagePosition struct {
	Day Day
	Key int64
}

// Position returns the row's place.
func (r *UsageRow) Position() UsagePosition { return UsagePosition{r.Day, r.Key.ID} }

// report runs a query that may take long, one at a time, until ctx ends. The
// database has few connections for reading, and the keys of requests wait for them.
func (l *Ledger) report(ctx context.Context, st store.Statement) error {
	select {
	case l.reports <- struct{}{}:
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
	defer func() { <-l.reports }()
	return l.query(ctx, st)
}

// UsageRows returns at most limit rows that follow after, the newest day first and
// each day's newest key first. That is the reverse order of the primary key, so a
// page of millions of rows costs no more than its own.
func (l *Ledger) UsageRows(ctx context.Context, q UsageQuery, after UsagePosition, limit int) (list []UsageRow, err error) {
	if after == (UsagePosition{}) {
		after.Day = math.MaxInt64
	}
	q.Last = min(q.Last, after.Day) // SQLite seeks by this, not by the pair
	args := q.args(q.Key, int64(after.Day), after.Key, pageLimit(limit))
	err = l.report(ctx, store.Statement{Name: "read_usage_rows", Args: args, Scan: func(r store.Row) error {
		var u UsageRow
		err := r.Scan(append(append([]any{&u.Key.ID, &u.Day}, u.fields()...), &u.Key.Name, &u.Key.Hint, &u.Key.Dashboard, &u.Key.Revoked)...)
		list = append(list, u)
		return err
	}})
	return list, err
}

// fields returns where a query scans a tally to.
func (t *Tally) fields() []any {
	f := &t.Found
	return []any{&t.Points, &t.Requests, &t.Errors,
		&f.Valid, &f.Invalid, &f.Disposable, &f.Public, &f.Relay, &f.Role, &f.Gibberish, &f.Typo, &f.LookupErrors}
}

// UsageSum returns the sum of the rows that q selects, and their number.
func (l *Ledger) UsageSum(ctx context.Context, q UsageQuery) (sum Tally, rows int64, err error) {
	err = l.report(ctx, store.Statement{Name: "sum_usage", Args: q.args(q.Key), Scan: func(r store.Row) error {
		return r.Scan(append([]any{&rows}, sum.fields()...)...)
	}})
	return sum, rows, err
}

// UsedKeys returns the keys with the most points in the days that q selects, at
// most limit of them.
func (l *Ledger) UsedKeys(ctx context.Context, q UsageQuery, limit int) (list []UsedKey, err error) {
	err = l.report(ctx, store.Statement{Name: "list_used_keys", Args: q.args(pageLimit(limit)), Scan: func(r store.Row) error {
		var k UsedKey
		var points int64
		err := r.Scan(&k.ID, &k.Name, &k.Hint, &k.Dashboard, &k.Revoked, &points)
		list = append(list, k)
		return err
	}})
	return list, err
}

// PointsOfDay are the points that a key used on a day. The key 0 is all keys that
// are not listed by name.
type PointsOfDay struct {
	Day    Day
	Key    int64
	Points int64
}

// PointsByDay returns the points of each day that q selects, for each of keys by
// itself and for all others together.
func (l *Ledger) PointsByDay(ctx context.Context, q UsageQuery, keys []int64) (list []PointsOfDay, err error) {
	err = l.report(ctx, store.Statement{Name: "sum_usage_days", Args: q.args(asJSON(append([]int64{}, keys...))), Scan: func(r store.Row) error {
		var p PointsOfDay
		err := r.Scan(&p.Day, &p.Key, &p.Points)
		list = append(list, p)
		return err
	}})
	return list, err
}

// An AccountUsage is what an account has used this month and may still use.
type AccountUsage struct {
	Used    int64     // points
	Limit   Limit     // points a month
	Overage bool      // points beyond the limit are allowed
	Rate    Limit     // requests a second
	Refill  time.Time // when the points refill
}

// AccountUsage reads an account's usage. Unlike GET /v1/usage it takes no token. It
// returns ErrNoAccount if there is no such account.
func (l *Ledger) AccountUsage(ctx context.Context, account int64) (AccountUsage, error) {
	a, err := l.Account(ctx, account)
	if err != nil {
		return AccountUsage{}, err
	}
	m := max(a.month, monthOf(l.clock.now()))
	return AccountUsage{Used: a.Used, Limit: a.Points, Overage: a.Overage, Rate: a.Rate, Refill: (m + 1).begin()}, nil
}

// An Actor is who makes a change, as the audit log records it.
type Actor string

// The actors.
const (
	Owner    Actor = "owner"    // the person who signed in to the account
	Operator Actor = "operator" // a person with operator rights
	Shell    Actor = "shell"    // the command line
	Service  Actor = "service"  // the service itself, such as when it disables a webhook
)

type actorKey struct{}

// WithActor returns a context for changes that actor makes. Without it, changes
// are the shell's.
func WithActor(ctx context.Context, actor Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

func actorOf(ctx context.Context) Actor {
	if actor, ok := ctx.Value(actorKey{}).(Actor); ok {
		return actor
	}
	return Shell
}

// maxAudit is how many lines of each action an account keeps. One limit for all actions
// together would let the thief of a session remove every trace of it by renaming a key
// often. There are about 30 actions.
const maxAudit = 100

// Audit returns the statements that record a change in the account's audit log.
// They belong to the transaction that makes the change. action is a noun and a
// verb, such as "key.create"; subject says what was changed, and is never a
// secret.
func Audit(ctx context.Context, account int64, now time.Time, action, subject string) []store.Statement {
	return []store.Statement{
		{Name: "add_audit", Args: []any{account, now.UnixNano(), string(actorOf(ctx)), action, subject}},
		{Name: "trim_audit", Args: []any{account, action, maxAudit}},
	}
}

// An AuditLine is one change of an account.
type AuditLine struct {
	ID      int64
	At      time.Time
	Actor   Actor
	Action  string
	Subject string
}

// AuditLog returns up to limit lines of an account's audit log, newest first,
// from before the line with the ID before; 0 is from the newest.
func (l *Ledger) AuditLog(ctx context.Context, account, before int64, limit int) ([]AuditLine, error) {
	if before == 0 {
		before = 1<<63 - 1
	}
	var list []AuditLine
	err := l.query(ctx, store.Statement{Name: "list_audit", Args: []any{account, before, limit}, Scan: func(r store.Row) error {
		var line AuditLine
		var at int64
		err := r.Scan(&line.ID, &at, &line.Actor, &line.Action, &line.Subject)
		line.At = timeOf(at)
		list = append(list, line)
		return err
	}})
	return list, err
}
