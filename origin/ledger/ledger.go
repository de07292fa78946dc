// Package ledger stores accounts, keys, plans, points, rates, idempotency
// records and the usage history, and decides which requests may run and what
// they are charged.
//
// # One charge, at the end
//
// A request passes four steps:
//
//	Begin   admission: key, rate, requests in progress; before the body is read
//	Claim   idempotency record and points; before the work
//	Charge  one durable transaction that decides all of it; before the response
//	End     releases what the request acquired; after the response is sent
//
// Begin and Claim judge by views, the recent state of accounts and keys in
// memory. They only save work: Charge decides again, by the rows in the database. So a key
// that another process revoked is not charged, and a limit that it changed applies.
//
// # Rooms
//
// Each room knows only those below it:
//
//	ledger  the steps of a request, the queries that read views, the policies in memory
//	commit  the one writer, which runs the only transactions that charge
//	state   what is decided: views, buckets, the operations of a commit group; no database
//	book    what owners and operators change: accounts, keys, plans, policies, history
//	store   the rows, in SQLite or PostgreSQL
//
// A change of book locks the account's row, as commit groups do, and expires the views.
//
// # Terms
//
//   - secret: what a client sends; a key has one, or two while it is rotated
//   - grace: how long the old secret of a rotated key remains valid
//   - browser origin: scheme, host and port of a page (RFC 6454); a key may be
//     bound to some, and is then refused to all other requests
//   - point: the charge for one address; points refill each calendar month (UTC)
//   - token: the right to one request, taken from the token buckets of the
//     account and the key when the request arrives
//   - pending token: one that is taken in memory and not yet in the database
//   - claim: points that a request in progress may be charged; they count as used
//     when this replica judges other requests
//   - ticket: a charge on its way through the writer
//   - commit group: the operations that one transaction commits together
//   - void: giving a charge back
//   - unpaid work: addresses that were checked for a request that was abandoned,
//     or refused after its work
//
// # What is durable when
//
// A charge is durable before Charge returns Good. While the database commits,
// tokens are written within 100 ms of the arrival, and requests that were not
// charged are recorded in the usage history within a second; a process that
// dies before that loses them.
//
//   - The process dies: a charge that was not committed did not happen. One that
//     was committed and not yet sent remains; with an Idempotency-Key the retry gets
//     the stored response.
//   - The database fails, or refuses to commit: nothing is charged, requests get
//     store.ErrUnavailable, and the writer probes until a commit succeeds. In the first
//     half minute requests wait for a commit, each for a second.
//   - Another session locks an account's rows on PostgreSQL: requests of the account get
//     store.ErrUnavailable at once, those of other accounts wait 150 ms once a second.
//   - A commit is not confirmed within a second: the caller gets ErrUndecided.
//     If it was committed, it remains if a retry can find its stored response;
//     otherwise the next group voids it, unless the process ends first.
//
// On SQLite one file serves several processes in turn: a transaction has the
// write lock from its beginning, and a commit fails or succeeds at once. On
// PostgreSQL replicas lock the rows of the accounts concerned, and a connection
// lost during COMMIT leaves the transaction in doubt until the writer has read
// whether its mark was committed (package store).
//
// Errors and log lines contain no secret and no email address. HTTP statuses and headers are
// package api's, and so is the content of stored responses, which are opaque bytes here.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/commit"
	"github.com/addrspec/addrspec/origin/ledger/state"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// The words of requests, which package state uses.
type (
	Decision    = state.Decision
	Kind        = state.Kind
	Usage       = state.Usage
	Quota       = state.Quota
	Charge      = state.Charge
	Idempotency = state.Idempotency
)

// The kinds of decisions.
const (
	Good                = state.Good
	UnknownKey          = state.UnknownKey
	WrongOrigin         = state.WrongOrigin
	RateLimited         = state.RateLimited
	Busy                = state.Busy
	UnpaidWork          = state.UnpaidWork
	IdempotencyMismatch = state.IdempotencyMismatch
	IdempotencyConflict = state.IdempotencyConflict
	Replayed            = state.Replayed
	RecordsFull         = state.RecordsFull
	Insufficient        = state.Insufficient
	Claimed             = state.Claimed
)

// The errors of charges.
var (
	ErrUndecided = state.ErrUndecided
	ErrRecord    = state.ErrRecord
	ErrClosed    = commit.ErrClosed
)

// A Ledger is one replica of the ledger on one database. It is safe for
// concurrent use.
type Ledger struct {
	*book.Book // accounts, keys, plans, policies and history
	timing     *commit.Timing
	store      store.Store
	views      *state.Views
	reader     *reader
	writer     *commit.Writer
	policies   *policyCache
	process    func() time.Time // this machine's clock
}

// An Option changes a default of Open.
type Option func(*settings)

type settings struct {
	timing    commit.Timing
	clock     func() time.Time // nil: the database's own
	process   func() time.Time // this machine's
	monotonic func() time.Time
	log       *slog.Logger
	open      func(context.Context, string, func() time.Time) (store.Store, error)
	wrap      func(store.Store) store.Store
}

// WithClock makes the ledger read the time from now. The default is this
// machine's clock on SQLite and the server's, which the replicas share, on
// PostgreSQL.
func WithClock(now func() time.Time) Option {
	return func(s *settings) { s.clock, s.process = now, now }
}

// WithLog sets the log for events that need an operator; the default discards
// them. Lines identify accounts by ID only.
func WithLog(log *slog.Logger) Option { return func(s *settings) { s.log = log } }

// WithStore makes the ledger use what wrap returns instead of its database: tests
// count its work or make it fail. Closing the ledger closes what wrap returned.
func WithStore(wrap func(store.Store) store.Store) Option {
	return func(s *settings) { s.wrap = wrap }
}

// Existing makes Open create and migrate nothing. Without a ledger of this
// program's schema it returns store.ErrNoLedger or store.ErrOldSchema.
func Existing() Option { return func(s *settings) { s.open = store.OpenExisting } }

// Open opens the database at url, migrates its schema and starts the writer.
// url is "sqlite:PATH", which creates a missing file and its directory, or
// "postgres://…".
func Open(ctx context.Context, url string, options ...Option) (*Ledger, error) {
	o := settings{timing: commit.DefaultTiming, process: time.Now, monotonic: time.Now,
		log: slog.New(slog.DiscardHandler), open: store.Open, wrap: func(s store.Store) store.Store { return s }}
	for _, option := range options {
		option(&o)
	}
	s, err := o.open(ctx, url, o.clock)
	if err != nil {
		return nil, err
	}
	s = o.wrap(s)
	now, err := s.Now(ctx)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	v := state.NewViews(state.NewClock(now, o.monotonic))
	return &Ledger{
		Book:     book.New(s, v.Clock.Now, v.Expire, o.log),
		timing:   &o.timing,
		store:    s,
		views:    v,
		reader:   &reader{store: s, views: v, timing: &o.timing},
		writer:   commit.Start(s, v, o.log, &o.timing),
		policies: newPolicyCache(s.Query),
		process:  o.process,
	}, nil
}

// Examine looks at the state of the database: its version, its health and what is
// left of its connections.
func (l *Ledger) Examine(ctx context.Context) (store.Examination, error) {
	return l.store.Examine(ctx)
}

// Ready returns nil if requests can be charged now, else an error that wraps
// store.ErrUnavailable. It waits for the database for at most a second, as a request
// does.
func (l *Ledger) Ready(ctx context.Context) error {
	if err := l.writer.Failing(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, l.timing.Wait)
	defer cancel()
	var plans int
	ping := store.Statement{Name: "ping", Scan: func(r store.Row) error { return r.Scan(&plans) }}
	if err := l.store.Query(ctx, ping); err != nil {
		return store.Unavailable(err)
	}
	return l.CheckClock(ctx)
}

const maxClockError = 24 * time.Hour

// CheckClock returns an error that wraps store.ErrUnavailable if the database's clock, which decides
// when months begin and secrets expire, differs by more than a day from this machine's.
func (l *Ledger) CheckClock(ctx context.Context) error {
	now, err := l.Now(ctx)
	if err != nil {
		return err
	}
	process := l.process().UTC()
	if now.Sub(process).Abs() > maxClockError {
		return store.Unavailable(fmt.Errorf("the database's clock says %s, this machine's %s: set the wrong one right",
			now.Format(time.DateTime), process.Format(time.DateTime)))
	}
	return nil
}

// Now returns the time of the database's clock.
func (l *Ledger) Now(ctx context.Context) (time.Time, error) {
	now, err := l.store.Now(ctx)
	if err != nil {
		return time.Time{}, store.Unavailable(err)
	}
	return now.UTC(), nil
}

// Close refuses further charges, commits those that wait and closes the
// database. It returns an error if charges remain that should have been voided.
// A second call does nothing.
func (l *Ledger) Close() error {
	if !l.writer.Close() {
		return nil
	}
	err := l.store.Close()
	if n := l.views.Count().Undecided; n > 0 {
		err = errors.Join(err, fmt.Errorf("%d charges could not be given back: the database did not commit", n))
	}
	return err
}

// InProgress returns the number of the account's requests in progress on this replica.
func (l *Ledger) InProgress(account int64) int { return l.views.RequestsOf(account) }
