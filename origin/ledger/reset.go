package ledger

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A Reset is the result of ResetAccount.
type Reset struct {
	Was, Is time.Time // first day of the account's month, before and after
	Used    int64     // points of that month, after
	Moved   int64     // points that the usage history had under future days
}

// ResetAccount sets the month of an account and its keys to the current month of
// the database's clock, and fills their token buckets. It repairs the effect of a
// wrong clock, since an account's month otherwise only advances. It returns
// ErrNoAccount if there is no such account.
//
// If the account is in the current month already, its points remain. Otherwise
// they are summed from the usage history. Usage recorded under future days
// happened before now, so it moves to today: the history still sums to the
// month's points, and no later month begins with points used.
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
		return append(r.statements(account, present, now), Audit(ctx, account, now, "account.reset", present.begin().Format("2006-01"))...), nil
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

// Now returns the time of the database's clock, which decides when a month
// begins.
func (l *Ledger) Now(ctx context.Context) (time.Time, error) {
	now, err := l.store.Now(ctx)
	if err != nil {
		return time.Time{}, unavailable(err)
	}
	return now.UTC(), nil
}
