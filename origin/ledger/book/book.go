// Package book is what owners and operators read and change: accounts, keys, plans, policies, the
// usage history and the audit log. It decides nothing about a request and knows no view of it.
//
// A change locks the row of its account, decides on what it reads then, and writes together with
// a line of the audit log. So bounds hold and at most two secrets of a key are valid, whichever
// replicas make changes at the same time. Commit groups lock the same rows: they see a change
// entirely or not at all.
package book

import (
	"context"
	"log/slog"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A Book is the accounts of one database with what belongs to them. It is safe for concurrent
// use.
type Book struct {
	store   *sideStore
	now     func() time.Time
	changed func()
	log     *slog.Logger
	reports chan struct{} // has an element while a report runs
}

// New returns the book in s. now estimates the time of the database's clock; changed is called
// after each transaction, which may have changed what requests are judged by.
func New(s store.Store, now func() time.Time, changed func(), log *slog.Logger) *Book {
	return &Book{newSideStore(s), now, changed, log, make(chan struct{}, 1)}
}

// Store returns the book's database, for packages that keep rows of their own in it. Its
// transactions run one at a time and its queries two, because they should not slow charges.
func (b *Book) Store() store.Store { return b.store }

// transact runs a change in a transaction. An error of decide is returned unwrapped.
func (b *Book) transact(ctx context.Context, reads func() []store.Statement,
	decide func(time.Time) ([]store.Statement, error)) error {
	var refusal error
	err := b.store.Transact(ctx, store.Transaction{Reads: reads, Decide: func(now time.Time) (list []store.Statement, err error) {
		list, refusal = decide(now)
		return list, refusal
	}})
	b.changed()
	if err != nil && refusal == nil {
		return store.Unavailable(err)
	}
	return refusal
}

// changeAccount decides a change of an account, its keys or its policies under the lock of the
// account's row, which protects all of them, after further reads. It returns ErrNoAccount if
// there is no such account. Without statements to write, nothing changes. Reads are called
// again if the connection is lost, so each must forget what it has read.
func (b *Book) changeAccount(ctx context.Context, account int64,
	decide func(Account, time.Time) ([]store.Statement, error), reads ...func() store.Statement) error {
	var a Account
	all := func() []store.Statement {
		a = Account{}
		list := []store.Statement{lockAccount(account), b.readAccounts(accountWith(account), func(found Account) { a = found })}
		for _, read := range reads {
			list = append(list, read())
		}
		return list
	}
	return b.transact(ctx, all, func(now time.Time) ([]store.Statement, error) {
		if a.ID == 0 {
			return nil, ErrNoAccount
		}
		return decide(a, now)
	})
}

func lockAccount(account int64) store.Statement {
	return store.Statement{Name: "lock_accounts", Args: []any{store.JSON([][]any{{account, 0, ""}})}}
}

func statement(name string, args ...any) store.Statement {
	return store.Statement{Name: name, Args: args}
}

// readRow returns a statement that scans its row to the destinations. Without a row they remain.
func readRow(name string, args []any, to ...any) store.Statement {
	return store.Statement{Name: name, Args: args, Scan: func(r store.Row) error { return r.Scan(to...) }}
}

// query runs a read-only statement, concurrently with the charges of the ledger.
func (b *Book) query(ctx context.Context, st store.Statement) error {
	if err := b.store.Query(ctx, st); err != nil {
		return store.Unavailable(err)
	}
	return nil
}

// report runs a query that may take long, one at a time, until ctx ends. The
// database has few connections for reading, and the keys of requests wait for them.
func (b *Book) report(ctx context.Context, st store.Statement) error {
	select {
	case b.reports <- struct{}{}:
	case <-ctx.Done():
		return store.Unavailable(ctx.Err())
	}
	defer func() { <-b.reports }()
	return b.query(ctx, st)
}

// list runs a query and returns its rows, each of which is scanned to its fields.
func list[T any](ctx context.Context, query func(context.Context, store.Statement) error,
	name string, args []any, fields func(*T) []any) (rows []T, err error) {
	err = query(ctx, store.Statement{Name: name, Args: args, Scan: func(r store.Row) error {
		var row T
		err := r.Scan(fields(&row)...)
		rows = append(rows, row)
		return err
	}})
	return rows, err
}
