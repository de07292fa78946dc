package main

import (
	"context"
	"database/sql"
	"strings"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// expectBooks reads the ledger while nobody asks: the points of the account lie
// between least and most, and its history sums to them. The file is whole.
func (s *scene) expectBooks(a account, least, most int64) error {
	used, err := s.used(a)
	if err != nil {
		return err
	}
	history, err := s.history(a)
	if err != nil {
		return err
	}
	s.expect(used >= least, "%s: the ledger has %d points, %d were answered", a.email, used, least)
	s.expect(used <= most, "%s: the ledger has %d points, at most %d can have been charged", a.email, used, most)
	s.expect(used == history, "%s: the history sums to %d points, the account has %d", a.email, history, used)
	if s.kind == sqlite {
		return s.expectWhole(s.ctx)
	}
	return nil
}

// expectWhole has SQLite check its file.
func (s *scene) expectWhole(ctx context.Context) error {
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(s.database, "sqlite:")+"?_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	defer db.Close()
	var said string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&said); err != nil {
		return err
	}
	s.expect(said == "ok", "integrity check: %s", said)
	return nil
}

// expectBooksOf reads the ledger while both loads are idle.
func (s *scene) expectBooksOf(l *load, o *onceLoad) error {
	return l.atRest(func() error {
		return o.atRest(func() error {
			least, most := l.charged()
			if err := s.expectBooks(l.account, least, most); err != nil {
				return err
			}
			least, most = o.charged()
			return s.expectBooks(o.account, least, most)
		})
	})
}
