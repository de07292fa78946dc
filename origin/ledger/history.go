package ledger

import "context"

// A UsageDay is what one key did on one day (UTC). The points of a month's
// days sum to the points that the account was charged in that month.
type UsageDay struct {
	Account int64
	Key     int64
	Day     Day
	Tally
}

// UsageHistory lists the usage from first to last, both included, by account,
// day and key. account 0 is every account.
func (l *Ledger) UsageHistory(ctx context.Context, account int64, first, last Day) ([]UsageDay, error) {
	var list []UsageDay
	err := l.query(ctx, statement{name: "read_usage", args: []any{account, int64(first), int64(last)}, scan: func(r row) error {
		var d UsageDay
		err := r.Scan(&d.Account, &d.Key, &d.Day, &d.Points, &d.Requests, &d.Errors)
		list = append(list, d)
		return err
	}})
	return list, err
}
