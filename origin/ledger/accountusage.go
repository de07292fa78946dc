package ledger

import (
	"context"
	"time"
)

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

// UnderWay returns the number of the account's requests under way on this replica.
func (l *Ledger) UnderWay(account int64) int { return l.views.underWayOf(account) }
