package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// errUnchanged ends a transaction that has nothing to commit.
var errUnchanged = errors.New("nothing to change")

// exclusive runs work in a transaction that alone may write.
func (s *sqlite) exclusive(ctx context.Context, work func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.control(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := work()
	if err == nil {
		err = s.control(ctx, "COMMIT")
	}
	if err == nil {
		return nil
	}
	// Fails where the error has ended the transaction already.
	_ = s.control(ctx, "ROLLBACK")
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// transact is not interrupted once it has begun: it takes milliseconds, and an
// interrupted statement would cost the connection.
func (s *sqlite) transact(ctx context.Context, reads func() []statement, decide func(time.Time) ([]statement, error)) error {
	ctx = context.WithoutCancel(ctx)
	return explain(s.exclusive(ctx, func() error {
		if err := s.run(ctx, reads()); err != nil {
			return err
		}
		writes, err := decide(s.clock())
		if err != nil {
			return err
		}
		if len(writes) == 0 {
			return errUnchanged
		}
		return s.run(ctx, writes)
	}))
}

func (s *sqlite) run(ctx context.Context, list []statement) error {
	for _, st := range list {
		ready, err := s.prepared(ctx, s.queries[st.name])
		if err == nil && st.scan == nil {
			_, err = ready.ExecContext(ctx, st.args...)
		} else if err == nil {
			err = eachRow(st.scan)(ready.QueryContext(ctx, st.args...))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
	}
	return nil
}

func (s *sqlite) control(ctx context.Context, word string) error {
	ready, err := s.prepared(ctx, word)
	if err == nil {
		_, err = ready.ExecContext(ctx)
	}
	return err
}

// prepared compiles a query once.
func (s *sqlite) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if ready := s.ready[query]; ready != nil {
		return ready, nil
	}
	ready, err := s.conn.PrepareContext(ctx, query)
	if err == nil {
		s.ready[query] = ready
	}
	return ready, err
}

func (s *sqlite) query(ctx context.Context, st statement) error {
	return explain(eachRow(st.scan)(s.read.QueryContext(ctx, s.queries[st.name], st.args...)))
}

// eachRow hands the rows of a query to scan.
func eachRow(scan func(row) error) func(*sql.Rows, error) error {
	return func(rows *sql.Rows, err error) error {
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}
