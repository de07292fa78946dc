package webhook

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// duePerScan is how often, in the time between two scans, Run looks for deliveries
// that are due, so that the first retry is not much later than planned.
const duePerScan = 6

// maxDue bounds the rows of one look.
const maxDue = 256

// Run scans and sends until ctx ends. Then it begins nothing more, lets attempts
// under way finish within the grace, cancels the rest, and returns.
func (s *Sender) Run(ctx context.Context) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	scanAt, cleanAt := time.Now(), time.Now()
	for ctx.Err() == nil {
		if now := time.Now(); !now.Before(scanAt) {
			s.warn(ctx, s.scan(ctx))
			scanAt = now.Add(s.Every)
		}
		if now := time.Now(); !now.Before(cleanAt) {
			s.warn(ctx, s.clean(ctx))
			cleanAt = now.Add(cleanEvery)
		}
		s.warn(ctx, s.sendDue(ctx, work))
		s.pause(ctx)
	}
	defer time.AfterFunc(s.Grace, cancel).Stop()
	s.under.Wait()
}

// pause waits until there may be something to send.
func (s *Sender) pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.freed:
	case <-time.After(s.Every / duePerScan):
	}
}

// warn logs an error of the database, unless it is due to the stop.
func (s *Sender) warn(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("webhooks wait for the database", "error", err.Error())
	}
}

// sendDue begins attempts for the accounts with a delivery that is due, as far as
// there are free slots.
func (s *Sender) sendDue(ctx, work context.Context) error {
	if len(s.slots) == cap(s.slots) {
		return nil
	}
	accounts, err := s.due(ctx)
	if err != nil {
		return err
	}
	for _, account := range accounts {
		select {
		case s.slots <- struct{}{}:
			s.under.Go(func() { s.attempt(work, account) })
		default:
			return nil
		}
	}
	return nil
}

// attempt makes one attempt for an account, if it can be claimed, and frees the
// slot.
func (s *Sender) attempt(work context.Context, account int64) {
	tried, err := s.try(work, account)
	<-s.slots
	s.warn(work, err)
	if tried {
		select {
		case s.freed <- struct{}{}:
		default:
		}
	}
}

func (s *Sender) try(work context.Context, account int64) (tried bool, err error) {
	a, err := s.claim(work, account)
	if a == nil || err != nil {
		return false, err
	}
	o := outcome{words: "the process that made the last attempt ended"}
	if !a.spent {
		o = s.send(work, a)
	}
	_, err = s.finish(work, a, o)
	return true, err
}

// due returns the accounts with a delivery that is due, each once.
func (s *Sender) due(ctx context.Context) (accounts []int64, err error) {
	now, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	seen := map[int64]bool{}
	err = s.query(ctx, "list_due", []any{now.UnixNano(), maxDue}, func(r store.Row) error {
		var account int64
		err := r.Scan(&account)
		if !seen[account] {
			seen[account] = true
			accounts = append(accounts, account)
		}
		return err
	})
	return accounts, err
}
