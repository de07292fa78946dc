package webhook

import (
	"cmp"
	"context"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Options change the defaults of [New]. The zero value is ready to use.
type Options struct {
	Log     *slog.Logger    // lines name accounts by ID and contain no URL; nil discards them
	Every   time.Duration   // between scans for accounts over a threshold; 0 is 30 s
	Timeout time.Duration   // of an attempt, from its claim to its response; 0 is 10 s
	Lease   time.Duration   // added to Timeout before another replica repeats an attempt; 0 is 20 s
	Retries []time.Duration // the waits between attempts; nil is 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h
	Grace   time.Duration   // for attempts in progress when Run stops; 0 is 5 s
	Sealer  *store.Sealer   // seals the signing secrets; nil stores them as they are
	Allow   []netip.Prefix  // networks that get messages although they are not public
	Local   *Local          // tests only
}

// Local lets a test send to servers of its own.
type Local struct {
	Roots    *x509.CertPool // in place of the system's
	Resolver *net.Resolver  // in place of the system's
}

// defaultRetries are the waits after the first attempt and each further one, as
// Standard Webhooks recommends: 8 attempts in about 32 hours.
var defaultRetries = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour}

// Bounds of the attempts that a process makes at the same time. An account has one at a time,
// on all replicas together. Tests have slots of their own, so that no receiver of a test keeps
// a message from being sent.
const (
	maxAttempts = 8
	maxTests    = 2
)

// A Sender is one replica's webhooks. It is safe for concurrent use.
type Sender struct {
	Options
	store   store.Store
	writing sync.Mutex // locked during a transaction
	guard   *guard
	client  *http.Client

	slots, tests chan struct{} // have an element for each attempt in progress

	sent, failed, abandoned atomic.Int64
}

// New returns a Sender on the ledger's database. It sends nothing by itself until
// Run is called.
func New(s store.Store, o Options) *Sender {
	o.Every = cmp.Or(o.Every, 30*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.Lease = cmp.Or(o.Lease, 20*time.Second)
	o.Grace = cmp.Or(o.Grace, 5*time.Second)
	if o.Retries == nil {
		o.Retries = defaultRetries
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	guard := newGuard(o.Allow)
	return &Sender{Options: o, store: s, guard: guard, client: newClient(guard, o.Local, o.Timeout),
		slots: make(chan struct{}, maxAttempts), tests: make(chan struct{}, maxTests)}
}

// Stats count what a Sender has done, tests of owners included.
type Stats struct {
	Sent      int64 // messages that a receiver accepted
	Failed    int64 // attempts that failed
	Abandoned int64 // messages that no attempt delivered
}

// Stats returns the counts so far.
func (s *Sender) Stats() Stats {
	return Stats{Sent: s.sent.Load(), Failed: s.failed.Load(), Abandoned: s.abandoned.Load()}
}

// A hook is an account's webhook in the database, with what belongs to it.
type hook struct {
	account, rotated, disabled, created int64
	url, secret, previous               string // url is "" if the account has none

	exists     bool // the account
	points     points
	deliveries []delivery // those that are not done, and the last test
}

func (h *hook) scan(r store.Row) error {
	return r.Scan(&h.url, &h.secret, &h.previous, &h.rotated, &h.disabled, &h.created)
}

// A delivery is a row of the table deliveries.
type delivery struct {
	id, body, status                               string
	month, percent, created, next, attempts, ended int64
}

// sending is the status of a delivery while an attempt runs. Its lease ends at the
// time of the next attempt.
const sending = "being sent"

func (d *delivery) scan(r store.Row) error {
	return r.Scan(&d.id, &d.month, &d.percent, &d.body, &d.created, &d.next, &d.attempts, &d.ended, &d.status)
}

// change locks the row of an account's webhook, reads it, and runs the statements that decide
// returns. Under the lock, statements see what other replicas have committed. There may be no
// row. An error of decide is returned unwrapped.
func (s *Sender) change(ctx context.Context, account int64,
	decide func(*hook, time.Time) ([]store.Statement, error)) error {
	var h *hook
	reads := func() []store.Statement {
		h = &hook{account: account}
		return []store.Statement{
			{Name: "lock_webhook", Args: []any{account}, Scan: h.scan},
			{Name: "read_account_points", Args: []any{account}, Scan: func(r store.Row) error {
				h.exists = true
				return h.points.scan(r)
			}},
			{Name: "read_deliveries", Args: []any{account}, Scan: func(r store.Row) error {
				var d delivery
				err := d.scan(r)
				h.deliveries = append(h.deliveries, d)
				return err
			}},
		}
	}
	return s.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) { return decide(h, now) })
}

// transact runs a transaction, one at a time in this process: on PostgreSQL
// several would take connections that requests need. An error of decide is
// returned unwrapped.
func (s *Sender) transact(ctx context.Context, reads func() []store.Statement,
	decide func(time.Time) ([]store.Statement, error)) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	var refusal error
	keep := func(now time.Time) (list []store.Statement, err error) {
		list, refusal = decide(now)
		return list, refusal
	}
	err := s.store.Transact(ctx, store.Transaction{Reads: reads, Decide: keep})
	if refusal != nil {
		return refusal
	}
	return unavailable(err)
}

// query runs a read-only statement.
func (s *Sender) query(ctx context.Context, name string, scan func(store.Row) error, args ...any) error {
	return unavailable(s.store.Query(ctx, store.Statement{Name: name, Args: args, Scan: scan}))
}

// now returns the time of the database's clock, which replicas share.
func (s *Sender) now(ctx context.Context) (time.Time, error) {
	now, err := s.store.Now(ctx)
	return now, unavailable(err)
}

func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return store.Unavailable(err)
}
