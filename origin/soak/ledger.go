package main

import (
	"context"
	"database/sql"
	"strings"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// expectLedger expects the account's points to be between least and most, its
// history to sum to them, and SQLite's file to be intact. No request may be under
// way.
func (s *session) expectLedger(a account, least, most int64) error {
	used, err := s.used(a)
	if err != nil {
		return err
	}
	history, err := s.history(a)
	if err != nil {
		return err
	}
	s.expect(used >= least, "%s: the ledger has %d points, responses reported %d", a.email, used, least)
	s.expect(used <= most, "%s: the ledger has %d points, at most %d can have been charged", a.email, used, most)
	s.expect(used == history, "%s: the history sums to %d points, the account has %d", a.email, history, used)
	if s.kind == sqlite {
		return s.expectIntegrity(s.ctx)
	}
	return nil
}

// expectIntegrity has SQLite check the integrity of its file.
func (s *session) expectIntegrity(ctx context.Context) error {
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(s.database, "sqlite:")+"?_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	defer db.Close()
	var result string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&result); err != nil {
		return err
	}
	s.expect(result == "ok", "integrity check: %s", result)
	return nil
}

// expectLedgerOf is expectLedger for the accounts of two loads, which it pauses.
func (s *session) expectLedgerOf(l *load, o *onceLoad) error {
	return l.atRest(func() error {
		return o.atRest(func() error {
			least, most := l.charged()
			if err := s.expectLedger(l.account, least, most); err != nil {
				return err
			}
			least, most = o.charged()
			return s.expectLedger(o.account, least, most)
		})
	})
}
