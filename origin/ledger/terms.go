package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Terms are what an account may use: its plan, and numbers of its own that
// stand in for the plan's where they are given.
type Terms struct {
	Plan   string // "" is DefaultPlan
	Rate   *Limit // requests a second
	Points *Limit // points a calendar month
}

// ChangeTerms puts an account on other terms, from its next request on.
func (l *Ledger) ChangeTerms(ctx context.Context, account int64, t Terms) error {
	t, err := l.checkTerms(ctx, t)
	if err != nil {
		return err
	}
	return l.change(ctx, ErrNoAccount, func(time.Time) statement {
		return statement{name: "change_account", args: []any{account, t.Plan, t.Rate.orNull(), t.Points.orNull()}}
	})
}

func (l *Ledger) checkTerms(ctx context.Context, t Terms) (Terms, error) {
	if t.Plan == "" {
		t.Plan = DefaultPlan
	}
	plans, err := l.Plans(ctx)
	if err != nil {
		return t, err
	}
	var names []string
	for _, p := range plans {
		if names = append(names, p.Name); p.Name == t.Plan {
			return t, errors.Join(checkOptional(t.Rate, checkRate), checkOptional(t.Points, checkPoints))
		}
	}
	return t, fmt.Errorf("%w %q; there are %s", ErrNoPlan, t.Plan, strings.Join(names, ", "))
}

func checkOptional(l *Limit, check func(Limit) error) error {
	if l == nil {
		return nil
	}
	return check(*l)
}

// orNull is the limit as a query's argument.
func (l *Limit) orNull() any {
	if l == nil {
		return nil
	}
	return int64(*l)
}
