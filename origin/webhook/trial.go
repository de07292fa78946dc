package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// testEvery is the least time between two tests of an account.
const testEvery = 10 * time.Second

// testMonth is the month of a test's row: one row, so one test at a time.
const testMonth = 0

// ErrTooSoon is wrapped by Test's error if it must wait. The error says how long.
var ErrTooSoon = errors.New("another test message is not sent yet")

// Test sends a test message now, once, and returns what became of it. It is like
// other messages, with percent 0. It needs no Run, so the command line can test.
func (s *Sender) Test(ctx context.Context, account int64) (Delivery, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return Delivery{}, ctx.Err()
	}
	a, err := s.claimTest(ctx, account)
	if err != nil {
		return Delivery{}, err
	}
	v, err := s.finish(ctx, a, s.send(ctx, a))
	if err != nil {
		return Delivery{}, err
	}
	d := delivery{id: a.id, status: v.status, created: a.time.UnixNano(), attempts: v.attempts, ended: a.time.UnixNano()}
	return d.view(), nil
}

// A test is what decides on a test message.
type test struct {
	hook
	month, used, limit int64
	exists             bool
	last               int64 // time of the last test
	leases             int64 // end of the latest lease
}

func (t *test) reads() []store.Statement {
	open := func(r store.Row) error {
		var d delivery
		err := r.Scan(&d.id, &d.month, &d.percent, &d.body, &d.created, &d.next, &d.attempts, &d.status)
		if d.status == sending {
			t.leases = max(t.leases, d.next)
		}
		return err
	}
	return []store.Statement{
		t.lock(),
		{Name: "read_account_points", Args: []any{t.account}, Scan: func(r store.Row) error { t.exists = true; return r.Scan(&t.month, &t.used, &t.limit) }},
		{Name: "read_last_test", Args: []any{t.account}, Scan: func(r store.Row) error { return r.Scan(&t.last) }},
		{Name: "read_open_deliveries", Args: []any{t.account}, Scan: open},
	}
}

// refuse returns why no test can be sent at now.
func (t *test) refuse(now time.Time) error {
	next := time.Unix(0, t.last).Add(testEvery)
	switch {
	case !t.exists:
		return ledger.ErrNoAccount
	case t.url == "":
		return ErrNone
	case t.disabled != 0:
		return ErrDisabled
	case t.leases > now.UnixNano():
		return fmt.Errorf("%w: a message is being sent; try again in half a minute", ErrTooSoon)
	case next.After(now):
		return fmt.Errorf("%w: try again in %d seconds", ErrTooSoon, int(next.Sub(now)/time.Second)+1)
	}
	return nil
}

// claimTest stores a test message, claimed.
func (s *Sender) claimTest(ctx context.Context, account int64) (*attempt, error) {
	var t test
	a := &attempt{began: time.Now(), id: newID(), number: 1}
	reads := func() []store.Statement { t = test{hook: hook{account: account}}; return t.reads() }
	err := s.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		if err := t.refuse(now); err != nil {
			return nil, err
		}
		a.hook, a.time, a.body = t.hook, now, t.message(now)
		put := store.Statement{Name: "put_test", Args: []any{account, testMonth, a.id, a.body, now.UnixNano(), s.leaseEnd(now), sending}}
		return []store.Statement{put}, nil
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// message returns the body of a test. The row has the points of an earlier month
// until the account's first charge of this one.
func (t *test) message(now time.Time) string {
	if t.month != monthOf(now) {
		t.used = 0
	}
	return newMessage(now, t.account, 0, t.used, t.limit)
}
