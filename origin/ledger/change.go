package ledger

import (
	"context"
	"time"
)

// change runs a statement that returns the ID of the one row it changed;
// missing is the error when it changed none.
func (l *Ledger) change(ctx context.Context, missing error, make func(now time.Time) statement) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	changed := false
	err := l.store.transact(ctx, noReads, func(now time.Time) ([]statement, error) {
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
