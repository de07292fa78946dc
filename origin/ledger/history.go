package ledger

import (
	"context"
	"time"
)

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

// change runs a statement that returns the ID of the one row it changed;
// missing is the error when it changed none.
func (l *Ledger) change(ctx context.Context, missing error, make func(now time.Time) statement) error {
	changed := false
	err := l.store.transact(ctx, nil, func(now time.Time) ([]statement, error) {
		st := make(now)
		scan := st.scan
		st.scan = func(r row) error {
			changed = true
			if scan == nil {
				return nil
			}
			return scan(r)
		}
		return []statement{st}, nil
	})
	if err != nil {
		return unavailable(err)
	}
	l.fence.lower()
	if !changed {
		return missing
	}
	return nil
}

// query reads beside the writer.
func (l *Ledger) query(ctx context.Context, st statement) error {
	if err := l.store.query(ctx, st); err != nil {
		return unavailable(err)
	}
	return nil
}

// now is the clock for what is only shown; decisions use the transaction's.
func (l *Ledger) now() time.Time { return l.fence.clock() }
