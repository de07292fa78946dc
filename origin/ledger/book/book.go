// Package book is what owners and operators read and change: accounts, keys, plans, policies, the
// usage history and the audit log. It decides nothing about a request and knows no view of it.
//
// A change locks the row of its account, decides on what it reads then, and writes together with
// a line of the audit log. So bounds hold and at most two secrets of a key are valid, whichever
// replicas make changes at the same time. Commit groups lock the same rows: they see a change
// entirely or not at all.
//
// A method returns ErrNoAccount, ErrNoKey or ErrNoPolicy if there is no such row, ErrSuspended to
// the owner of a suspended account, who may only revoke keys, and an error that wraps
// store.ErrUnavailable if the database fails. A change that changes nothing is neither written nor
// in the audit log.
package book

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A Book is the accounts of one database with what belongs to them. It is safe for concurrent
// use.
type Book struct {
	store   *sideStore
	now     func() time.Time
	changed func()
	log     *slog.Logger
	reports *semaphore.Weighted
}

// New returns the book in s. now estimates the time of the database's clock; changed is called
// after each transaction, which may have changed what requests are judged by.
func New(s store.Store, now func() time.Time, changed func(), log *slog.Logger) *Book {
	side := &sideStore{s, semaphore.NewWeighted(1), semaphore.NewWeighted(maxSideQueries)}
	return &Book{side, now, changed, log, semaphore.NewWeighted(1)}
}

// Store returns the book's database, for packages that keep rows of their own in it. Its
// transactions run one at a time and its queries two, because they should not slow charges.
func (b *Book) Store() store.Store { return b.store }

// An error of decide is returned unwrapped.
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
// account's row, which protects all of them, after further reads, which may be nil. Without
// statements to write, nothing changes. reads is called again if the connection is lost, so it must
// forget what it has read.
func (b *Book) changeAccount(ctx context.Context, account int64, reads func() []store.Statement,
	decide func(Account, time.Time) ([]store.Statement, error)) error {
	var a Account
	all := func() []store.Statement {
		list := []store.Statement{lockAccount(account), b.readAccount(account, &a)}
		if reads != nil {
			list = append(list, reads()...)
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
	return statement("lock_accounts", store.JSON([][]any{{account, 0, ""}}))
}

func statement(name string, args ...any) store.Statement {
	return store.Statement{Name: name, Args: args}
}

// Without a row the destinations remain.
func readRow(name string, args []any, to ...any) store.Statement {
	return store.Statement{Name: name, Args: args, Scan: func(r store.Row) error { return r.Scan(to...) }}
}

func (b *Book) query(ctx context.Context, st store.Statement) error {
	if err := b.store.Query(ctx, st); err != nil {
		return store.Unavailable(err)
	}
	return nil
}

// report runs a query that may take long, one at a time, because the database has few connections
// for reading and the keys of requests wait for them.
func (b *Book) report(ctx context.Context, st store.Statement) error {
	if err := enter(ctx, b.reports); err != nil {
		return store.Unavailable(err)
	}
	defer b.reports.Release(1)
	return b.query(ctx, st)
}

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

// A sideStore runs what is neither a charge nor the lookup of a key: one transaction at a time,
// and two queries, which is half of the connections for reading. On SQLite all transactions wait
// for one lock, on PostgreSQL for connections. So a commit group waits for at most one other
// transaction, and a key for no other query, however many people sign in, change keys or look at
// pages.
type sideStore struct {
	store.Store
	turn    *semaphore.Weighted // of a transaction
	queries *semaphore.Weighted
}

const maxSideQueries = 2

// sideTries is how often a transaction tries to lock rows of another session. Others have their
// turn in between, because a locked account must not delay the changes of another one.
const sideTries = 10

// Transact waits for its turn until ctx ends. It may call t.Reads and t.Decide again.
func (s *sideStore) Transact(ctx context.Context, t store.Transaction) (err error) {
	for range sideTries {
		if err := enter(ctx, s.turn); err != nil {
			return err
		}
		err = s.Store.Transact(ctx, t)
		s.turn.Release(1)
		if _, locked := errors.AsType[*store.Locked](err); !locked {
			return err
		}
	}
	return err
}

// Query waits for its turn until ctx ends.
func (s *sideStore) Query(ctx context.Context, st store.Statement) error {
	if err := enter(ctx, s.queries); err != nil {
		return err
	}
	defer s.queries.Release(1)
	return s.Store.Query(ctx, st)
}

// enter waits until ctx ends for a free slot. A free slot is taken even if ctx has ended, because
// what is in progress should be finished, such as a deletion whose client has disconnected.
func enter(ctx context.Context, slots *semaphore.Weighted) error {
	if slots.TryAcquire(1) {
		return nil
	}
	return slots.Acquire(ctx, 1)
}

// An Actor is who makes a change, as the audit log records it.
type Actor string

const (
	Owner    Actor = "owner"    // the person who signed in to the account
	Operator Actor = "operator" // a person with operator rights
	Shell    Actor = "shell"    // the command line
	Service  Actor = "service"  // the service itself, such as when it disables a webhook
)

type actorKey struct{}

// WithActor returns a context for changes that actor makes. Without it, changes are the shell's.
func WithActor(ctx context.Context, actor Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

func actorOf(ctx context.Context) Actor {
	if actor, ok := ctx.Value(actorKey{}).(Actor); ok {
		return actor
	}
	return Shell
}

// maxAudit is how many lines of each action an account keeps. One limit for all actions
// together would let the thief of a session remove every trace of it by renaming a key
// often. There are about 30 actions.
const maxAudit = 100

// Audit returns writes with the statements that record them in the account's audit log. action is
// a noun and a verb, such as "key.create"; subject says what was changed, and is never a secret.
func Audit(ctx context.Context, account int64, now time.Time, action, subject string,
	writes ...store.Statement) []store.Statement {
	return append(writes,
		statement("add_audit", account, now.UnixNano(), string(actorOf(ctx)), action, subject),
		statement("trim_audit", account, action, maxAudit))
}

// An AuditLine is one change of an account.
type AuditLine struct {
	ID      int64     `json:"-"`
	At      time.Time `json:"at"`
	Actor   Actor     `json:"actor"`
	Action  string    `json:"action"`
	Subject string    `json:"subject"`
}

// AuditLog returns up to limit lines of an account's audit log, newest first,
// from before the line with the ID before; 0 is from the newest.
func (b *Book) AuditLog(ctx context.Context, account, before int64, limit int) ([]AuditLine, error) {
	args := []any{account, cmp.Or(before, math.MaxInt64), limit}
	return list(ctx, b.query, "list_audit", args, func(line *AuditLine) []any {
		return []any{&line.ID, unixTime{&line.At}, &line.Actor, &line.Action, &line.Subject}
	})
}
