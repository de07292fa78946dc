// Package ledger keeps what must never be wrong: who may ask, how often, and
// what it costs. It holds accounts, keys, plans, points, rates, idempotency
// records and the usage history.
//
// A request is charged once, at its end:
//
//	Begin    look 1: key, rate, slot; before the body is read
//	Claim    look 2: stored answer, points; before the work
//	Charge   one durable transaction that decides all of it; before the answer
//	End      frees what the request held
//
// The looks judge by views in memory (view.go) and only save work: the
// transaction decides. Charges that arrive together are committed together by
// one writer (writer.go): it takes what waits, loads the rows it concerns
// under locks (book.go), decides in memory (operation.go, account.go,
// bucket.go), writes what changed, commits once and only then answers. A
// process that dies has charged nobody whose transaction was not committed.
//
// The database is the truth. Every transaction reads it anew, so a key revoked
// or a plan changed by another process gets no further 200.
//
// No key and no address is in an error or a log line of this package.
//
// What it leaves out: databases (package store), HTTP statuses and headers
// (package api), what an idempotent answer contains (opaque bytes here), and
// mail.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// What an operation of the ledger can fail with. A refusal of a request is not
// an error but a Verdict.
var (
	// ErrUnavailable: the database did not take the transaction; nobody was
	// charged. The wrapped error says why.
	ErrUnavailable = errors.New("the ledger's database does not answer as it should")
	// ErrUndecided: the database has not confirmed the commit in time. With an
	// Idempotency-Key and an answer to store, the charge is kept if it was
	// committed; otherwise it is given back with the next commit, unless the
	// process ends first.
	ErrUndecided = errors.New("the ledger's database has not confirmed the charge in time")
	// ErrRecord: the database refuses this account's own rows; nobody was charged.
	ErrRecord = errors.New("the ledger cannot record this charge")
	// ErrClosed: the ledger was closed before the request was taken up.
	ErrClosed = errors.New("the ledger is closed")
)

// A Ledger is safe for use by many goroutines.
type Ledger struct {
	store  store.Store
	clock  *clock
	log    *slog.Logger
	views  *views
	reader *reader
	writer *writer
	stats  statsRecorder
}

// An Option sets something of a Ledger that has a default.
type Option func(*settings)

type settings struct {
	clock     func() time.Time // nil: the database's own
	monotonic func() time.Time
	log       *slog.Logger
	wrap      func(store.Store) store.Store // tests put faults between the ledger and its database
}

// WithClock makes the ledger read the time from now. Without it SQLite uses
// this machine's clock and PostgreSQL its own, which the replicas share.
func WithClock(now func() time.Time) Option { return func(s *settings) { s.clock = now } }

// WithLog gives the ledger a log for what needs an operator. It names accounts
// by number alone.
func WithLog(log *slog.Logger) Option { return func(s *settings) { s.log = log } }

// Open opens the database that url names, brings its schema up to date and
// starts the writer. url is "sqlite:PATH" (the file and its folder are created
// when missing) or "postgres://…".
func Open(ctx context.Context, url string, options ...Option) (*Ledger, error) {
	o := settings{monotonic: time.Now, log: slog.New(slog.DiscardHandler)}
	for _, option := range options {
		option(&o)
	}
	s, err := store.Open(ctx, url, o.clock)
	if err != nil {
		return nil, err
	}
	if o.wrap != nil {
		s = o.wrap(s)
	}
	l := &Ledger{store: s, log: o.log}
	if err := l.start(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return l, nil
}

func (l *Ledger) start(ctx context.Context, o settings) error {
	now, err := l.store.Now(ctx)
	if err != nil {
		return err
	}
	var last month
	err = l.query(ctx, store.Statement{Name: "read_last_month", Scan: func(r store.Row) error { return r.Scan(&last) }})
	if err != nil {
		return err
	}
	l.clock = newClock(now, o.monotonic, o.log)
	l.clock.warnAtStart(last)
	l.views = newViews(l.clock)
	l.reader = &reader{Ledger: l}
	l.writer = newWriter(l)
	go l.writer.run()
	return nil
}

// Ready returns why requests cannot be charged at the moment, or nil. It asks
// the database for at most a second, as a request does.
func (l *Ledger) Ready(ctx context.Context) error {
	if err := l.writer.failing(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	if err := l.store.Ping(ctx); err != nil {
		return unavailable(err)
	}
	return nil
}

// Close takes no more charges, commits those that wait and closes the database.
// Closed again it does nothing.
func (l *Ledger) Close() error {
	if !l.writer.close() {
		return nil
	}
	err := l.store.Close()
	if n := len(l.writer.voids); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d charges could not be given back: the database did not take them", n))
	}
	return err
}

// transact runs an operator's change, which holds from the next request on.
func (l *Ledger) transact(ctx context.Context, reads func() []store.Statement, decide func(time.Time) ([]store.Statement, error)) error {
	var refusal error
	err := l.store.Transact(ctx, store.Transaction{Reads: reads, Decide: func(now time.Time) (list []store.Statement, err error) {
		list, refusal = decide(now)
		return list, refusal
	}})
	l.views.expire()
	if err != nil && refusal == nil {
		return unavailable(err)
	}
	return refusal
}

// change runs a statement that returns the ID of the one row it changed;
// missing is the error when it changed none.
func (l *Ledger) change(ctx context.Context, missing error, make func(now time.Time) store.Statement) error {
	changed := false
	err := l.transact(ctx, nil, func(now time.Time) ([]store.Statement, error) {
		st := make(now)
		st.Scan = func(store.Row) error { changed = true; return nil }
		return []store.Statement{st}, nil
	})
	if err == nil && !changed {
		return missing
	}
	return err
}

// query reads beside the writer.
func (l *Ledger) query(ctx context.Context, st store.Statement) error {
	if err := l.store.Query(ctx, st); err != nil {
		return unavailable(err)
	}
	return nil
}
