package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// transact runs a transaction, one at a time in this process: on PostgreSQL
// several would take connections that requests need. An error of decide is
// returned unwrapped.
func (s *Sender) transact(ctx context.Context, reads func() []store.Statement, decide func(time.Time) ([]store.Statement, error)) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	var refusal error
	err := s.store.Transact(ctx, store.Transaction{Reads: reads, Decide: func(now time.Time) (list []store.Statement, err error) {
		list, refusal = decide(now)
		return list, refusal
	}})
	if refusal != nil {
		return refusal
	}
	return unavailable(err)
}

// query runs a read-only statement.
func (s *Sender) query(ctx context.Context, name string, args []any, scan func(store.Row) error) error {
	return unavailable(s.store.Query(ctx, store.Statement{Name: name, Args: args, Scan: scan}))
}

// now returns the time of the database's clock, which replicas share.
func (s *Sender) now(ctx context.Context) (time.Time, error) {
	now, err := s.store.Now(ctx)
	return now, unavailable(err)
}

func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ledger.ErrUnavailable, err)
}
