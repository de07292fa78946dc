package webhook

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A delivery is a row of the table deliveries.
type delivery struct {
	id, body, status                               string
	month, percent, created, next, attempts, ended int64
}

// A Delivery is a message as its account's owner sees it.
type Delivery struct {
	ID        string    // the webhook-id
	Percent   int       // 80 or 100; 0 is a test
	Created   time.Time // when the threshold was noticed
	Attempts  int
	Next      time.Time // of the next attempt; zero if there is none
	Done      bool      // delivered, failed or abandoned
	Delivered bool
	Status    string // in words, such as "delivered: HTTP 204"
}

// Deliveries returns an account's newest messages, at most limit.
func (s *Sender) Deliveries(ctx context.Context, account int64, limit int) (list []Delivery, err error) {
	err = s.query(ctx, "list_deliveries", []any{account, limit}, func(r store.Row) error {
		var d delivery
		err := r.Scan(&d.id, &d.month, &d.percent, &d.created, &d.next, &d.attempts, &d.ended, &d.status)
		list = append(list, d.view())
		return err
	})
	return list, err
}

func (d *delivery) view() Delivery {
	v := Delivery{ID: d.id, Percent: int(d.percent), Created: timeOf(d.created), Attempts: int(d.attempts), Done: d.ended != 0, Status: d.status}
	v.Delivered = v.Done && strings.HasPrefix(d.status, "delivered")
	if !v.Done && d.status != sending {
		v.Next = timeOf(d.next)
	}
	switch {
	case v.Status == "":
		v.Status = "waiting to be sent"
	case !v.Done && d.status != sending:
		v.Status = d.status + "; it will be sent again"
	}
	return v
}

func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

const (
	keepDeliveries = 92 * 24 * time.Hour // longer than a month, whose deliveries must not be made twice
	cleanEvery     = time.Hour
	cleanPage      = 500 // rows of one transaction
)

// clean deletes old deliveries. It finds them by a read, so the write is short.
func (s *Sender) clean(ctx context.Context) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	for full := true; full && ctx.Err() == nil; {
		ids, err := s.oldDeliveries(ctx, now.Add(-keepDeliveries))
		if err == nil && len(ids) > 0 {
			err = s.deleteDeliveries(ctx, ids)
		}
		if err != nil {
			return err
		}
		full = len(ids) == cleanPage
	}
	return nil
}

func (s *Sender) oldDeliveries(ctx context.Context, before time.Time) (ids []string, err error) {
	err = s.query(ctx, "list_old_deliveries", []any{before.UnixNano(), cleanPage}, func(r store.Row) error {
		var id string
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

func (s *Sender) deleteDeliveries(ctx context.Context, ids []string) error {
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return s.transact(ctx, nil, func(time.Time) ([]store.Statement, error) {
		return []store.Statement{{Name: "delete_deliveries", Args: []any{string(list)}}}, nil
	})
}
