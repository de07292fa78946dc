package book

import (
	"context"
	"math"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A UsageRow is what one key did on one day. The points of a month's rows sum to the account's
// points of that month.
type UsageRow struct {
	Account int64
	Email   string // of the account, in UsageHistory only; "" while the account is being deleted
	Key     UsedKey
	Day     Day
	Tally
}

// A UsedKey names a key in the usage history, which has no rows of test keys.
type UsedKey struct {
	ID        int64
	Name      string
	Hint      string // the first characters of the secret
	Dashboard bool   // the key of checks made in the dashboard
	Test      bool
	Revoked   bool
}

// A Tally counts what a key did on a day, or what a request adds to that.
type Tally struct {
	Points   int64 `json:"points"`   // charged
	Requests int64 `json:"requests"` // admitted
	Errors   int64 `json:"errors"`   // requests that did not get a 2xx
	Found
}

// Plus returns the sum of two tallies.
func (t Tally) Plus(u Tally) Tally {
	t.Points, t.Requests, t.Errors = t.Points+u.Points, t.Requests+u.Requests, t.Errors+u.Errors
	t.Found = t.Found.Plus(u.Found, 1)
	return t
}

// Found counts the results of the addresses charged.
type Found struct {
	Valid        int64 `json:"valid"`
	Invalid      int64 `json:"invalid"`
	Disposable   int64 `json:"disposable"`
	Public       int64 `json:"public"`
	Relay        int64 `json:"relay"`
	Role         int64 `json:"role"` // of the valid addresses; so are Gibberish and Typo
	Gibberish    int64 `json:"gibberish"`
	Typo         int64 `json:"typo"`
	LookupErrors int64 `json:"lookup_errors"` // MX lookups that failed; these addresses are neither valid nor invalid
}

// Plus returns f + sign*g.
func (f Found) Plus(g Found, sign int64) Found {
	return Found{
		Valid: f.Valid + sign*g.Valid, Invalid: f.Invalid + sign*g.Invalid,
		Disposable: f.Disposable + sign*g.Disposable, Public: f.Public + sign*g.Public, Relay: f.Relay + sign*g.Relay,
		Role: f.Role + sign*g.Role, Gibberish: f.Gibberish + sign*g.Gibberish, Typo: f.Typo + sign*g.Typo,
		LookupErrors: f.LookupErrors + sign*g.LookupErrors,
	}
}

// UsageHistory returns the usage from first to last, inclusive, sorted by account, day and key. The
// account 0 means all accounts. Of the keys it has the ID and the name.
func (b *Book) UsageHistory(ctx context.Context, account int64, first, last Day) ([]UsageRow, error) {
	return list(ctx, b.query, "read_usage", []any{account, int64(first), int64(last)}, func(u *UsageRow) []any {
		return append([]any{&u.Account, &u.Email, &u.Key.ID, &u.Key.Name, &u.Day}, u.fields()...)
	})
}

// A KeyDay is what a key did on one day, or all keys that are not listed by name together.
type KeyDay struct {
	Key      int64 // 0 for all others
	Day      Day
	Points   int64
	Requests int64 // in UsageOfKeys only
}

// UsageOfKeys returns what some of an account's keys did from first to last, inclusive, in no
// order. Days without a request are left out.
func (b *Book) UsageOfKeys(ctx context.Context, account int64, keys []int64, first, last Day) ([]KeyDay, error) {
	args := []any{account, int64(first), int64(last), store.JSON(keys)}
	return list(ctx, b.report, "read_usage_of_keys", args, func(d *KeyDay) []any {
		return []any{&d.Key, &d.Day, &d.Points, &d.Requests}
	})
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

// A UsagePosition is a row's place in the order of UsageRows. The zero value is before the first row.
type UsagePosition struct {
	Day Day
	Key int64
}

// Position returns the row's place.
func (r *UsageRow) Position() UsagePosition { return UsagePosition{r.Day, r.Key.ID} }

// UsageRows returns at most limit rows that follow after, the newest day first and each day's newest
// key first, because that is the reverse order of the primary key: a page costs no more than its own
// rows.
func (b *Book) UsageRows(ctx context.Context, q UsageQuery, after UsagePosition, limit int) ([]UsageRow, error) {
	if after == (UsagePosition{}) {
		after.Day = math.MaxInt64
	}
	q.Last = min(q.Last, after.Day) // SQLite seeks by this, not by the pair
	args := q.args(q.Key, int64(after.Day), after.Key, pageLimit(limit))
	return list(ctx, b.report, "read_usage_rows", args, func(u *UsageRow) []any {
		u.Account = q.Account
		fields := append([]any{&u.Key.ID, &u.Day}, u.fields()...)
		return append(fields, &u.Key.Name, &u.Key.Hint, &u.Key.Dashboard, &u.Key.Revoked)
	})
}

func (t *Tally) fields() []any {
	f := &t.Found
	return []any{&t.Points, &t.Requests, &t.Errors,
		&f.Valid, &f.Invalid, &f.Disposable, &f.Public, &f.Relay, &f.Role, &f.Gibberish, &f.Typo, &f.LookupErrors}
}

// UsageSum returns the sum of the rows that q selects, and their number.
func (b *Book) UsageSum(ctx context.Context, q UsageQuery) (sum Tally, rows int64, err error) {
	err = b.report(ctx, readRow("sum_usage", q.args(q.Key), append([]any{&rows}, sum.fields()...)...))
	return sum, rows, err
}

// UsedKeys returns the keys with the most points in the days that q selects, at most limit of them.
func (b *Book) UsedKeys(ctx context.Context, q UsageQuery, limit int) ([]UsedKey, error) {
	return list(ctx, b.report, "list_used_keys", q.args(pageLimit(limit)), func(k *UsedKey) []any {
		return []any{&k.ID, &k.Name, &k.Hint, &k.Dashboard, &k.Revoked, new(int64)} // the last are the points
	})
}

// PointsByDay returns the points of each day that q selects, for each of keys by itself and for all
// others together.
func (b *Book) PointsByDay(ctx context.Context, q UsageQuery, keys []int64) ([]KeyDay, error) {
	args := q.args(store.JSON(append([]int64{}, keys...)))
	return list(ctx, b.report, "sum_usage_days", args, func(d *KeyDay) []any {
		return []any{&d.Day, &d.Key, &d.Points}
	})
}

// A DaySum is what all accounts did on one day.
type DaySum struct {
	Day      Day
	Points   int64
	Requests int64
	Errors   int64
}

// UsageOfAll returns what all accounts did on each day from first to last, inclusive. Days without a
// request are left out.
func (b *Book) UsageOfAll(ctx context.Context, first, last Day) ([]DaySum, error) {
	return list(ctx, b.report, "sum_usage_of_all", []any{int64(first), int64(last)}, func(d *DaySum) []any {
		return []any{&d.Day, &d.Points, &d.Requests, &d.Errors}
	})
}
