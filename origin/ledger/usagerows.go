package ledger

import (
	"context"
	"math"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

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
