package ledger

import (
	"context"

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
	Errors   int64 // requests that did not get a 200
	Found
}

// Plus returns the sum of two tallies.
func (t Tally) Plus(u Tally) Tally { return t.plus(u) }

func (t Tally) plus(u Tally) Tally {
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
