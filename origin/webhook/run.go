// Package webhook sends an account one message when its points used this month
// reach 80 % of its limit, and one at 100 %, to a URL that the account gives.
// Messages follow Standard Webhooks 1.0.0 (standardwebhooks.com).
//
// Every replica runs a [Sender] on the ledger's database. Each scans for accounts
// over a threshold and stores a delivery, whose primary key is account, month and
// threshold, so there is one message for each. To send it, a replica claims it
// with a lease: no other replica sends to this account before the attempt has
// ended or the lease has. A replica that dies leaves a lease that ends, and
// another repeats the attempt. Delivery is therefore at least once: a receiver may
// get a message again, with the same webhook-id.
//
// Each file uses the files below it:
//
//	run.go      a replica's loop: accounts over a threshold get a delivery, which is sent
//	owner.go    what an account's owner can do
//	attempt.go  one replica at a time sends to an account: claim, attempt, result
//	sender.go   the settings, and the rows of the database
//	message.go  the body and its signatures
//	target.go   which URLs are accepted; the HTTP client: public addresses only
//
// The package does not notice a threshold that was crossed less than a scan's
// interval before the month ended: the points have been refilled by then. An
// account gets a threshold's message once a month, even if its limit is raised
// later.
package webhook

import (
	"context"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

const (
	duePerScan = 6   // looks for deliveries that are due, in the time between two scans
	maxScan    = 500 // accounts that get deliveries in one scan
	maxDue     = 64  // accounts of one look for deliveries that are due
	maxCleaned = 5000

	cleanEvery     = time.Hour
	keepDeliveries = 92 * 24 * time.Hour // longer than a month, whose deliveries must not be made twice
)

// Run scans and sends until ctx ends. Then it begins nothing more, lets attempts
// in progress finish within the grace, cancels the rest, and returns.
func (s *Sender) Run(ctx context.Context) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var under sync.WaitGroup
	scan, clean, look := time.NewTicker(s.Every), time.NewTicker(cleanEvery), time.NewTicker(s.Every/duePerScan)
	s.warn(ctx, s.scan(ctx))
	s.warn(ctx, s.clean(ctx))
	for ctx.Err() == nil {
		s.warn(ctx, s.sendDue(ctx, work, &under))
		select {
		case <-ctx.Done():
		case <-look.C:
		case <-scan.C:
			s.warn(ctx, s.scan(ctx))
		case <-clean.C:
			s.warn(ctx, s.clean(ctx))
		}
	}
	defer time.AfterFunc(s.Grace, cancel).Stop()
	under.Wait()
}

// warn logs an error of the database, unless it is due to the stop.
func (s *Sender) warn(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("webhooks wait for the database", "error", err.Error())
	}
}

// scan stores a delivery for each account that has reached a threshold. Replicas
// that scan at the same time store the same deliveries, once. Without a new one it
// only reads.
func (s *Sender) scan(ctx context.Context) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	var over []points // that have used at least 80 %
	err = s.query(ctx, "list_thresholds", func(r store.Row) error {
		var p points
		err := p.scan(r)
		over = append(over, p)
		return err
	}, monthOf(now), maxScan)
	if err != nil || len(over) == 0 {
		return err
	}
	return s.transact(ctx, nil, func(now time.Time) (list []store.Statement, err error) {
		for _, p := range over {
			if p.month != monthOf(now) { // the points were refilled since they were read
				continue
			}
			percents := []int64{80}
			if p.used >= p.limit {
				percents = append(percents, 100)
			}
			for _, percent := range percents {
				add := []any{p.account, p.month, percent, newID(), p.message(now, percent), now.UnixNano()}
				list = append(list, store.Statement{Name: "add_delivery", Args: add})
			}
		}
		return list, nil
	})
}

// clean deletes old deliveries.
func (s *Sender) clean(ctx context.Context) error {
	return s.transact(ctx, nil, func(now time.Time) ([]store.Statement, error) {
		args := []any{now.Add(-keepDeliveries).UnixNano(), maxCleaned}
		return []store.Statement{{Name: "delete_old_deliveries", Args: args}}, nil
	})
}

// due returns the accounts with a delivery that is due, the longest due first.
func (s *Sender) due(ctx context.Context) (accounts []int64, err error) {
	now, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	err = s.query(ctx, "list_due", func(r store.Row) error {
		var account int64
		err := r.Scan(&account)
		accounts = append(accounts, account)
		return err
	}, now.UnixNano(), maxDue)
	return accounts, err
}

// sendDue sends to the accounts with a delivery that is due, to each as soon as there is a
// slot. work ends later than ctx.
func (s *Sender) sendDue(ctx, work context.Context, under *sync.WaitGroup) error {
	accounts, err := s.due(ctx)
	if err != nil {
		return err
	}
	for _, account := range accounts {
		select {
		case <-ctx.Done():
			return nil
		case s.slots <- struct{}{}:
		}
		under.Go(func() {
			defer func() { <-s.slots }()
			s.warn(work, s.serve(ctx, work, account))
		})
	}
	return nil
}

// serve sends an account all that is due, unless another replica is sending to the account.
func (s *Sender) serve(ctx, work context.Context, account int64) error {
	for ctx.Err() == nil {
		a, err := s.claim(work, account)
		if a == nil || err != nil {
			return err
		}
		o := outcome{words: "the process that made the last attempt ended"}
		if !s.spent(a) {
			o = s.send(work, a)
		}
		if _, err := s.finish(work, a, o); err != nil {
			return err
		}
	}
	return nil
}
