package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// errUnchanged rolls back a transaction that has nothing to write.
var errUnchanged = errors.New("nothing to change")

// Transact ignores the cancellation of ctx: a transaction takes milliseconds, and
// interrupting a statement would break the connection.
func (s *sqlite) Transact(ctx context.Context, t store.Transaction) error {
	ctx = context.WithoutCancel(ctx)
	return explainSQLite(s.exclusive(ctx, func() error {
		if t.Reads != nil {
			if err := s.run(ctx, t.Reads()); err != nil {
				return err
			}
		}
		writes, err := t.Decide(s.clock())
		if err != nil {
			return err
		}
		if len(writes) == 0 {
			return errUnchanged
		}
		return s.run(ctx, writes)
	}))
}

// exclusive runs work in a transaction that has the write lock, and commits it.
func (s *sqlite) exclusive(ctx context.Context, work func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return err
	}
	err := work()
	if err == nil {
		err = s.control(ctx, "COMMIT")
	}
	if err == nil {
		return nil
	}
	// A failed commit is not in doubt: no connection sees what it wrote to the
	// write-ahead log, and the next transaction overwrites it. Only a crash before
	// that could recover it. The rollback fails if the error has ended the
	// transaction.
	_ = s.control(ctx, "ROLLBACK")
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// begin acquires the write lock, polling while another process has it. SQLite's
// own busy timeout sleeps for ever longer times, up to a tenth of a second, so a
// process that writes often would starve this one.
func (s *sqlite) begin(ctx context.Context) error {
	for deadline := time.Now().Add(busyTimeout); ; time.Sleep(pollEvery) {
		err := s.control(ctx, "BEGIN IMMEDIATE")
		if !isBusy(err) || time.Now().After(deadline) {
			return err
		}
	}
}

const pollEvery = 200 * time.Microsecond

func (s *sqlite) run(ctx context.Context, list []store.Statement) error {
	for _, st := range list {
		if s.queries[st.Name] == "" {
			continue
		}
		ready, err := s.prepare(ctx, s.queries[st.Name])
		if err == nil && st.Scan == nil {
			_, err = ready.ExecContext(ctx, st.Args...)
		} else if err == nil {
			err = eachRow(st.Scan)(ready.QueryContext(ctx, st.Args...))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", st.Name, err)
		}
	}
	return nil
}

func (s *sqlite) control(ctx context.Context, word string) error {
	ready, err := s.prepare(ctx, word)
	if err == nil {
		_, err = ready.ExecContext(ctx)
	}
	return err
}

// prepare returns the prepared statement of a query.
func (s *sqlite) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if ready := s.prepared[query]; ready != nil {
		return ready, nil
	}
	ready, err := s.conn.PrepareContext(ctx, query)
	if err == nil {
		s.prepared[query] = ready
	}
	return ready, err
}

func (s *sqlite) Query(ctx context.Context, st store.Statement) error {
	ready, err := s.prepareRead(ctx, s.queries[st.Name])
	if err != nil {
		return explainSQLite(err)
	}
	return explainSQLite(eachRow(st.Scan)(ready.QueryContext(ctx, st.Args...)))
}

// prepareRead returns the statement of a query, which database/sql compiles once on
// each connection. SQLite takes longer to compile the query of a key's row than to run
// it: with 10,000 keys, each read again after a second, a request took 2.7 times the
// processor time of one with one key, and takes 1.6 times since.
func (s *sqlite) prepareRead(ctx context.Context, query string) (*sql.Stmt, error) {
	if ready, ok := s.reads.Load(query); ok {
		return ready.(*sql.Stmt), nil
	}
	ready, err := s.read.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	first, stored := s.reads.LoadOrStore(query, ready)
	if stored { // by another goroutine meanwhile
		_ = ready.Close()
	}
	return first.(*sql.Stmt), nil
}

// eachRow returns a function that calls scan for each row of a query's result.
func eachRow(scan func(store.Row) error) func(*sql.Rows, error) error {
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

// explainSQLite adds advice to an error of SQLite, and ErrData if it is one of
// the data.
func explainSQLite(err error) error {
	switch primaryCode(err) {
	case codes.SQLITE_CONSTRAINT, codes.SQLITE_MISMATCH, codes.SQLITE_TOOBIG:
		return fmt.Errorf("%w: %w", store.ErrData, err)
	}
	if what := sqliteAdvice[primaryCode(err)]; what != "" {
		return fmt.Errorf("%s (%w)", what, err)
	}
	return err
}

func isBusy(err error) bool { return primaryCode(err) == codes.SQLITE_BUSY }

// primaryCode returns the low byte of SQLite's result code; the rest is detail.
func primaryCode(err error) int {
	var e *driver.Error
	if !errors.As(err, &e) {
		return codes.SQLITE_OK
	}
	return e.Code() & 0xff
}

// sqliteAdvice is what an operator can do about an error, by its primary code.
var sqliteAdvice = map[int]string{
	codes.SQLITE_BUSY:     "another process has locked the database for too long; end it, or try again",
	codes.SQLITE_READONLY: "the file cannot be written; check its owner and mode, and those of its directory",
	codes.SQLITE_IOERR:    "reading or writing the disk failed; check that it is not full, then the disk itself",
	codes.SQLITE_CORRUPT:  "the file is damaged; restore it from a backup",
	codes.SQLITE_FULL:     "the disk is full; free some space, then the ledger continues by itself",
	codes.SQLITE_CANTOPEN: "the file cannot be opened; check the owner and mode of it and its directory, and that the file system is not read-only",
	codes.SQLITE_NOTADB:   "the file is not an SQLite database; give another path",
}
