package ledger

import (
	"context"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A UsageDay is what one key did on one day (UTC). The points of a month's
// days sum to the points that the account was charged in that month.
type UsageDay struct {
	Account int64
	Key     int64
	Day     Day
	Tally
}

// A Tally is what a key did on a day, or what a request adds to it.
type Tally struct {
	Points   int64 // charged
	Requests int64 // that took a token
	Errors   int64 // of these, how many were not answered with 200
	Found
}

func (t Tally) plus(u Tally) Tally {
	t.Points, t.Requests, t.Errors = t.Points+u.Points, t.Requests+u.Requests, t.Errors+u.Errors
	t.Found = t.Found.plus(u.Found, 1)
	return t
}

// plus adds sign times g.
func (f Found) plus(g Found, sign int64) Found {
	return Found{
		Valid: f.Valid + sign*g.Valid, Invalid: f.Invalid + sign*g.Invalid,
		Disposable: f.Disposable + sign*g.Disposable, Public: f.Public + sign*g.Public, Relay: f.Relay + sign*g.Relay,
		Role: f.Role + sign*g.Role, Gibberish: f.Gibberish + sign*g.Gibberish, Typo: f.Typo + sign*g.Typo,
		LookupErrors: f.LookupErrors + sign*g.LookupErrors,
	}
}

// UsageHistory lists the usage from first to last, both included, by account,
// day and key. account 0 is every account.
func (l *Ledger) UsageHistory(ctx context.Context, account int64, first, last Day) ([]UsageDay, error) {
	var list []UsageDay
	err := l.query(ctx, store.Statement{Name: "read_usage", Args: []any{account, int64(first), int64(last)}, Scan: func(r store.Row) error {
		var d UsageDay
		f := &d.Found
		err := r.Scan(&d.Account, &d.Key, &d.Day, &d.Points, &d.Requests, &d.Errors,
			&f.Valid, &f.Invalid, &f.Disposable, &f.Public, &f.Relay, &f.Role, &f.Gibberish, &f.Typo, &f.LookupErrors)
		list = append(list, d)
		return err
	}})
	return list, err
}
