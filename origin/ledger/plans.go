package ledger

import (
	"context"
	"fmt"
	"time"
)

// StorePlans adds plans to the database and changes those that have the same
// name. A plan that is not named stays, since accounts may be on it.
func (l *Ledger) StorePlans(ctx context.Context, plans []Plan) error {
	for _, p := range plans {
		if err := p.check(); err != nil {
			return fmt.Errorf("plan %q: %w", p.Name, err)
		}
	}
	rows := make([]planRow, len(plans))
	for i, p := range plans {
		rows[i] = planRow{p.Name, int64(p.Rate), int64(p.Points), p.Overage}
	}
	err := l.store.transact(ctx, noReads, func(time.Time) ([]statement, error) {
		return []statement{{name: "put_plans", args: []any{asJSON(rows)}}}, nil
	})
	if err != nil {
		return unavailable(err)
	}
	l.fence.lower()
	return nil
}

// planRow is a Plan as the database holds it: unlimited is -1.
type planRow struct {
	Name    string `json:"name"`
	Rate    int64  `json:"rate"`
	Points  int64  `json:"points"`
	Overage bool   `json:"overage"`
}

// Plans lists the plans by name.
func (l *Ledger) Plans(ctx context.Context) ([]Plan, error) {
	var list []Plan
	err := l.query(ctx, statement{name: "list_plans", scan: func(r row) error {
		var p Plan
		err := r.Scan(&p.Name, &p.Rate, &p.Points, &p.Overage)
		list = append(list, p)
		return err
	}})
	return list, err
}
