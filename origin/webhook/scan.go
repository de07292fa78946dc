package webhook

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// scanPage is how many accounts one query and one transaction of a scan have.
const scanPage = 100

// scan stores a delivery for each account that has reached a threshold. Replicas
// that scan at the same time store the same deliveries, once. Without a new one it
// only reads.
func (s *Sender) scan(ctx context.Context) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	for after, full := int64(0), true; full && ctx.Err() == nil; {
		page, err := s.overThreshold(ctx, monthOf(now), after)
		if err != nil {
			return err
		}
		if err := s.addDeliveries(ctx, monthOf(now), page); err != nil {
			return err
		}
		if full = len(page) == scanPage; full {
			after = page[scanPage-1].account
		}
	}
	return nil
}

// points are what an account has used of its limit.
type points struct{ account, used, limit int64 }

func (s *Sender) overThreshold(ctx context.Context, month, after int64) (page []points, err error) {
	err = s.query(ctx, "list_thresholds", []any{month, after, scanPage}, func(r store.Row) error {
		var p points
		err := r.Scan(&p.account, &p.used, &p.limit)
		page = append(page, p)
		return err
	})
	return page, err
}

// addDeliveries stores the deliveries of a page. It stores none if the month has
// ended since the accounts were read.
func (s *Sender) addDeliveries(ctx context.Context, month int64, page []points) error {
	if len(page) == 0 {
		return nil
	}
	return s.transact(ctx, nil, func(now time.Time) (list []store.Statement, err error) {
		if monthOf(now) != month {
			return nil, nil
		}
		for _, p := range page {
			list = append(list, p.deliveries(now)...)
		}
		return list, nil
	})
}

// deliveries returns the statements that store a delivery for each threshold that
// is reached, if it is not stored yet.
func (p points) deliveries(now time.Time) (list []store.Statement) {
	for _, percent := range thresholds {
		if reached(p.used, p.limit, percent) {
			body := newMessage(now, p.account, percent, p.used, p.limit)
			list = append(list, store.Statement{Name: "add_delivery", Args: []any{p.account, monthOf(now), percent, newID(), body, now.UnixNano()}})
		}
	}
	return list
}
