package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Errors of requests. A request that is refused gets a Verdict and no error.
var (
	// ErrUnavailable means that the database did not commit; nothing was
	// charged. The error that wraps it gives the cause.
	ErrUnavailable = errors.New("the ledger's database is unavailable")
	// ErrUndecided means that the database has not confirmed the commit in time.
	// If it was committed, the charge remains if it has an Idempotency-Key and a
	// stored answer; otherwise the next commit group voids it, unless the process
	// ends first.
	ErrUndecided = errors.New("the ledger's database has not confirmed the charge in time")
	// ErrRecord means that the database rejects this account's own rows; nothing
	// was charged.
	ErrRecord = errors.New("the ledger cannot record this charge")
	// ErrClosed means that Close was called before the charge was submitted.
	ErrClosed = errors.New("the ledger is closed")
)

// A Ledger is one replica of the ledger on one database. It is safe for
// concurrent use.
type Ledger struct {
	store  store.Store
	side   *sideStore // for all but the writer
	clock  *clock
	log    *slog.Logger
	views  *views
	reader *reader
	writer *writer
	stats  statsRecorder

	wait  time.Duration // see waitLimit
	tally time.Duration // see tallyEvery

	reports chan struct{} // has an element while a report runs
}

// An Option changes a default of Open.
type Option func(*settings)

type settings struct {
	clock     func() time.Time // nil: the database's own
	monotonic func() time.Time
	log       *slog.Logger
	open      func(context.Context, string, func() time.Time) (store.Store, error)
	wrap      func(store.Store) store.Store
	wait      time.Duration
	tally     time.Duration
}

// WithClock makes the ledger read the time from now. The default is this
// machine's clock on SQLite and the server's, which the replicas share, on
// PostgreSQL.
func WithClock(now func() time.Time) Option { return func(s *settings) { s.clock = now } }

// WithLog sets the log for events that need an operator; the default discards
// them. Lines identify accounts by ID only.
func WithLog(log *slog.Logger) Option { return func(s *settings) { s.log = log } }

// WithStore makes the ledger use what wrap returns instead of its database: tests
// count its work or make it fail. Closing the ledger closes what wrap returned.
func WithStore(wrap func(store.Store) store.Store) Option {
	return func(s *settings) { s.wrap = wrap }
}

// Existing makes Open create and migrate nothing. Without a ledger of this
// program's schema it returns ErrNoLedger or ErrOldSchema.
func Existing() Option { return func(s *settings) { s.open = store.OpenExisting } }

// ReadOnly is Existing, and makes Open and all later calls write nothing, so that
// charges and changes fail on SQLite.
func ReadOnly() Option { return func(s *settings) { s.open = store.OpenReadOnly } }

// The errors of Open with Existing or ReadOnly.
var (
	ErrNoLedger  = store.ErrNoLedger
	ErrOldSchema = store.ErrOldSchema
)

// Open opens the database at url, migrates its schema and starts the writer.
// url is "sqlite:PATH", which creates a missing file and its folder, or
// "postgres://…".
func Open(ctx context.Context, url string, options ...Option) (*Ledger, error) {
	o := settings{monotonic: time.Now, log: slog.New(slog.DiscardHandler), open: store.Open, wait: waitLimit, tally: tallyEvery}
	o.wrap = func(s store.Store) store.Store { return s }
	for _, option := range options {
		option(&o)
	}
	s, err := o.open(ctx, url, o.clock)
	if err != nil {
		return nil, err
	}
	s = o.wrap(s)
	l := &Ledger{store: s, side: newSideStore(s), log: o.log, wait: o.wait, tally: o.tally, reports: make(chan struct{}, 1)}
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

// Examine looks at the state of the database: its version, its health and what is
// left of its connections.
func (l *Ledger) Examine(ctx context.Context) (store.Examination, error) {
	return store.Examine(ctx, l.store)
}

// Ready returns nil if requests can be charged now, else an error that wraps
// ErrUnavailable. It waits for the database for at most a second, as a request
// does.
func (l *Ledger) Ready(ctx context.Context) error {
	if err := l.writer.failing(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	if err := l.store.Ping(ctx); err != nil {
		return unavailable(err)
	}
	return nil
}

// Close refuses further charges, commits those that wait and closes the
// database. It returns an error if charges remain that should have been voided.
// A second call does nothing.
func (l *Ledger) Close() error {
	if !l.writer.close() {
		return nil
	}
	err := l.store.Close()
	if n := len(l.writer.voids); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d charges could not be given back: the database did not commit", n))
	}
	return err
}

// transact runs an operator's change in a transaction. It expires all views, so
// the change applies from the next request on. An error of decide is returned
// unwrapped.
func (l *Ledger) transact(ctx context.Context, reads func() []store.Statement, decide func(time.Time) ([]store.Statement, error)) error {
	var refusal error
	err := l.side.Transact(ctx, store.Transaction{Reads: reads, Decide: func(now time.Time) (list []store.Statement, err error) {
		list, refusal = decide(now)
		return list, refusal
	}})
	l.views.expire()
	if err != nil && refusal == nil {
		return unavailable(err)
	}
	return refusal
}

// query runs a read-only statement, concurrently with the writer and the reader.
func (l *Ledger) query(ctx context.Context, st store.Statement) error {
	if err := l.side.Query(ctx, st); err != nil {
		return unavailable(err)
	}
	return nil
}

// Store returns the ledger's database, for packages that keep rows of their own
// in it. Its transactions run one at a time and its queries two, so that they do not
// slow charges. The ledger closes it.
func (l *Ledger) Store() store.Store { return l.side }
