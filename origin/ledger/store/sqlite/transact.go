package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

var errUnchanged = errors.New("nothing to change")

// Transact ignores the cancellation of ctx: a transaction takes milliseconds, and
// interrupting a statement would break the connection.
func (s *sqlite) Transact(ctx context.Context, t store.Transaction) error {
	ctx = context.WithoutCancel(ctx)
	err := s.exclusive(ctx, func() error {
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
	})
	if err == errUnchanged {
		return nil
	}
	return explain(err)
}

// exclusive runs work in a transaction that has the write lock, and commits it.
func (s *sqlite) exclusive(ctx context.Context, work func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := untilFree(func() error { return s.exec(ctx, "BEGIN IMMEDIATE", store.Statement{}) })
	if err != nil {
		return err
	}
	err = work()
	if err == nil {
		err = s.exec(ctx, "COMMIT", store.Statement{})
	}
	if err != nil {
		// A failed commit is not in doubt: no connection sees what it wrote to the
		// write-ahead log, and the next transaction overwrites it. Only a crash before
		// that could recover it. The rollback fails if the error has ended the
		// transaction.
		_ = s.exec(ctx, "ROLLBACK", store.Statement{})
	}
	return err
}

// untilFree repeats do while another process has the file locked. SQLite's own busy
// timeout does not suffice, because it ignores that another process switches a new file to
// WAL mode, and because it sleeps for ever longer times, up to a tenth of a second: a
// process that writes often would starve this one.
func untilFree(do func() error) error {
	for deadline := time.Now().Add(busyTimeout); ; time.Sleep(pollEvery) {
		err := do()
		if primaryCode(err) != codes.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
	}
}

func (s *sqlite) run(ctx context.Context, list []store.Statement) error {
	for _, st := range list {
		query := s.queries[st.Name]
		if query == "" {
			continue
		}
		if err := s.exec(ctx, query, st); err != nil {
			return fmt.Errorf("%s: %w", st.Name, err)
		}
	}
	return nil
}

func (s *sqlite) exec(ctx context.Context, query string, st store.Statement) (err error) {
	ready := s.prepared[query]
	if ready == nil {
		ready, err = s.conn.PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		s.prepared[query] = ready
	}
	if st.Scan == nil {
		_, err = ready.ExecContext(ctx, st.Args...)
		return err
	}
	return eachRow(ctx, ready, st)
}

// Query prepares each statement once, and database/sql compiles it once on each connection,
// because SQLite takes longer to compile the query of a key's row than to run it: with
// 10,000 keys, each read again after a second, a request took 2.7 times the processor time
// of one with one key, and takes 1.6 times since.
func (s *sqlite) Query(ctx context.Context, st store.Statement) error {
	ready, ok := s.reads.Load(st.Name)
	if !ok {
		first, err := s.read.PrepareContext(ctx, s.queries[st.Name])
		if err != nil {
			return explain(err)
		}
		ready, _ = s.reads.LoadOrStore(st.Name, first)
	}
	return explain(eachRow(ctx, ready.(*sql.Stmt), st))
}

func eachRow(ctx context.Context, ready *sql.Stmt, st store.Statement) error {
	rows, err := ready.QueryContext(ctx, st.Args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := st.Scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func explain(err error) error {
	code := primaryCode(err)
	switch {
	case code == codes.SQLITE_CONSTRAINT, code == codes.SQLITE_MISMATCH, code == codes.SQLITE_TOOBIG:
		return fmt.Errorf("%w: %w", store.ErrData, err)
	case advice[code] != "":
		return fmt.Errorf("%s (%w)", advice[code], err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: run this as the service's user, or give that user the directory and the files in it (chown)", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: mount it for writing, name the directory in ReadWritePaths= of the systemd unit, "+
			"or choose another --database", err)
	}
	return err
}

func primaryCode(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return codes.SQLITE_OK
}

var advice = map[int]string{
	codes.SQLITE_BUSY:     "another process has locked the database for too long; end it, or try again",
	codes.SQLITE_READONLY: "the file cannot be written; check its owner and mode, and those of its directory",
	codes.SQLITE_IOERR:    "reading or writing the disk failed; check that it is not full, then the disk itself",
	codes.SQLITE_CORRUPT:  "the file is damaged; restore it from a backup",
	codes.SQLITE_FULL:     "the disk is full; free some space, then the ledger continues by itself",
	codes.SQLITE_CANTOPEN: "the file cannot be opened; check the owner and mode of it and its directory, " +
		"and that the file system is not read-only",
	codes.SQLITE_NOTADB: "the file is not an SQLite database; give another path",
}
