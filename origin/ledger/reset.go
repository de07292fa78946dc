package ledger

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A Reset is what ResetAccount did.
type Reset struct {
	Was, Is time.Time // the first of the account's month, before and after
	Used    int64     // points in that month, after it
	Moved   int64     // points of the usage history that had been recorded under days to come
}

// ResetAccount puts an account and its keys into the present month of the
// database's clock, and fills their token buckets. It mends what a clock that
// was wrong has done: an account's month only advances by itself.
//
// Points of an account that is in the present month already stay as they are.
// Otherwise they are counted anew from the usage history. What was recorded under
// days to come was used before now, so it is recorded under today: the history
// sums to the month's points as before, and no later month begins with points
// that nobody used in it.
func (l *Ledger) ResetAccount(ctx context.Context, account int64) (r Reset, err error) {
	var ws *workingSet
	rs := &readSet{rows: map[rowKey]bool{{account: account}: true}}
	reads := func() []store.Statement {
		ws = newWorkingSet()
		return ws.reads(rs)
	}
	err = l.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		a := ws.accounts[account]
		if a == nil {
			return nil, ErrNoAccount
		}
		present := monthOf(now)
		r = Reset{Was: a.month.begin(), Is: present.begin()}
		return r.statements(account, present, now), nil
	})
	return r, err
}

func (r *Reset) statements(account int64, present month, now time.Time) []store.Statement {
	today := int64(DayOf(now))
	args := []any{account, int64(present), int64(DayOf(present.begin())), now.UnixNano()}
	return []store.Statement{
		{Name: "sum_future_usage", Args: []any{account, today}, Scan: func(row store.Row) error { return row.Scan(&r.Moved) }},
		{Name: "move_future_usage", Args: []any{account, today}},
		{Name: "delete_future_usage", Args: []any{account, today}},
		{Name: "reset_account", Args: args, Scan: func(row store.Row) error { return row.Scan(&r.Used) }},
		{Name: "reset_keys", Args: args},
	}
}

// Now reads the database's clock, which decides when a month begins.
func (l *Ledger) Now(ctx context.Context) (time.Time, error) {
	now, err := l.store.Now(ctx)
	if err != nil {
		return time.Time{}, unavailable(err)
	}
	return now.UTC(), nil
}
